# ruby-pg: one line on the standard output for each item of the checklist.

require "pg"

$stdout.sync = true
ID = "SELECT id FROM app.orders WHERE tenant_id = $1 AND id = $2"
NOTE = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'ruby-pg')"
NOTES = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'ruby-pg'"
FORGET = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'ruby-pg'"
ZERO = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2"
LONG = "SELECT count(*) FROM generate_series(1, 2000000000)"
HOUR = "SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI')"
MANY = "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 5000"
TYPES = "SELECT true::text, 7::int2, (-2147483648)::int4, 9007199254740993::int8, 1.5::float8, 12.50::numeric(10,2), 'Grüße'::text," \
        " date '2026-01-31', time '12:30:00', '00000000-0000-0000-0000-000000000042'::uuid"

def connected(variable)
  PG.connect(ENV.fetch(variable))
end

MAIN = connected("PGMOAT_DSN")

def one(sql, values = [], on = MAIN)
  (values.empty? ? on.exec(sql) : on.exec_params(sql, values)).getvalue(0, 0)
end

def code(sql)
  one(sql)
rescue PG::Error => e
  e.result.error_field(PG::PG_DIAG_SQLSTATE)
end

def briefly(variable)
  connection = connected(variable)
  yield connection
ensure
  connection&.close
end

def item(name)
  puts "#{name}\t#{yield}"
rescue StandardError => e
  warn e.full_message
  puts "#{name}\tsurprise: #{e.class}: #{e.message.lines.first}"
end

item("connect") { briefly("PGMOAT_DSN") { |connection| one("SELECT 1", [], connection) } }
item("tls") do
  briefly("PGMOAT_TLS_DSN") { |connection| connection.ssl_in_use? ? one("SELECT 1", [], connection) : "in the clear" }
end
item("types") { MAIN.exec(TYPES).values[0].join(" ") }
item("nulls") do
  row = MAIN.exec_params("SELECT NULL::int, NULL::text, $1::text", [nil]).values[0]
  row.map { |value| value.nil? ? "null" : value }.join(" ")
end
item("arrays") do
  given = [PG::TextEncoder::Array.new.encode([1, 2, nil]), PG::TextEncoder::Array.new.encode(["a", "b c"])]
  numbers, texts = MAIN.exec_params("SELECT $1::int[], $2::text[]", given).values[0]
  decoder = PG::TextDecoder::Array.new
  "#{decoder.decode(numbers).map { |number| number || 'null' }.join(',')} #{decoder.decode(texts).join(',')}"
end
item("json") { one(%q(SELECT '{"a": [1, 2]}'::jsonb -> 'a' -> 1)) }
item("bytea") do
  bytes = ((0..255).to_a * 4096).pack("C*")
  back = MAIN.exec_params("SELECT $1::bytea", [{ value: bytes, format: 1 }], 1).getvalue(0, 0)
  "#{back.bytesize} #{back == bytes ? 'same' : 'other'}"
end
item("prepared") do
  MAIN.prepare("order", ID)
  sum = (2..40).step(2).sum { |id| MAIN.exec_prepared("order", ["acme", id]).getvalue(0, 0).to_i }
  MAIN.exec("DEALLOCATE \"order\"") # before libpq 17 there is no other way
  sum
end
item("transaction") do
  begin
    MAIN.transaction do
      MAIN.exec(NOTE)
      raise "rolled back"
    end
  rescue RuntimeError
    rolled_back = one(NOTES)
  end
  MAIN.transaction { MAIN.exec(NOTE) }
  "#{rolled_back} #{MAIN.exec(FORGET).cmd_tuples}"
end
item("savepoint") do
  ["BEGIN", NOTE, "SAVEPOINT s", NOTE, "ROLLBACK TO s", "COMMIT"].each { |sql| MAIN.exec(sql) }
  MAIN.exec(FORGET).cmd_tuples
end
item("error") { code(ZERO) }
item("syntax") { code("SELEC 1") }
item("failed transaction") do
  MAIN.exec("BEGIN")
  codes = [code(ZERO), code("SELECT 1")]
  MAIN.exec("ROLLBACK")
  [*codes, one("SELECT 1")].join(" ")
end
item("denied") { code("SELECT secret FROM internal.api_keys") }
item("refused") { code("SELECT id FROM app.orders WHERE id = 4242") }
item("cancel") do
  canceller = Thread.new do
    sleep 0.2
    MAIN.cancel
  end
  codes = code(LONG)
  canceller.join
  "#{codes} #{one('SELECT 1')}"
end
item("timeout") do
  MAIN.exec("SET statement_timeout = 100")
  codes = code(LONG)
  MAIN.exec("RESET statement_timeout")
  "#{codes} #{one('SELECT 1')}"
end
item("setting") do
  MAIN.exec("SET TimeZone = 'Asia/Tokyo'")
  hours = [one(HOUR), one(HOUR)]
  MAIN.exec("RESET TimeZone")
  [*hours, one(HOUR)].join(" ")
end
item("notice") do
  heard = []
  MAIN.set_notice_receiver { |result| heard << result.error_field(PG::PG_DIAG_SQLSTATE) }
  MAIN.exec("ROLLBACK")
  MAIN.set_notice_receiver
  heard.join(" ")
end
item("rows") do
  found = MAIN.exec(MANY).column_values(0).map(&:to_i)
  "#{found.size} #{found.sum}"
end
item("copy out") do
  lines = []
  MAIN.copy_data("COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 8) TO STDOUT") do
    while (line = MAIN.get_copy_data)
      lines << line
    end
  end
  lines.size
end
item("copy in") do
  briefly("PGMOAT_OPS_DSN") do |connection|
    connection.copy_data("COPY app.notes (tenant_id, body) FROM STDIN") do
      2.times { connection.put_copy_data("acme\truby-pg\n") }
    end
    connection.exec(FORGET).cmd_tuples
  end
end
item("pool") do
  clients = (1..20).map do |number|
    Thread.new do
      briefly("PGMOAT_DSN") do |connection|
        10.times.count { one(ID, ["acme", 2 * number], connection) == (2 * number).to_s }
      end
    end
  end
  clients.sum(&:value)
end
item("pipeline") do
  MAIN.enter_pipeline_mode
  [2, 4, 6].each { |id| MAIN.send_query_params(ID, ["acme", id]) }
  MAIN.pipeline_sync
  found = []
  while (result = MAIN.get_result || MAIN.get_result)
    break if result.result_status == PG::PGRES_PIPELINE_SYNC

    found << result.getvalue(0, 0)
  end
  MAIN.exit_pipeline_mode
  found.join(" ")
end
item("single rows") do
  MAIN.send_query("SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 20")
  MAIN.set_single_row_mode
  count = 0
  MAIN.get_result.stream_each { count += 1 }
  MAIN.get_result
  count
end
item("asynchronous") do
  MAIN.send_query("SELECT 1")
  until (MAIN.consume_input || true) && !MAIN.is_busy
    MAIN.socket_io.wait_readable(1)
  end
  MAIN.get_last_result.getvalue(0, 0)
end
MAIN.close
