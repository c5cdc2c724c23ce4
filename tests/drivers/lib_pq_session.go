// lib/pq: one line on the standard output for each item of the checklist.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"
)

const (
	id     = "SELECT id FROM app.orders WHERE tenant_id = $1 AND id = $2"
	note   = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'lib/pq')"
	notes  = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'lib/pq'"
	forget = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'lib/pq'"
	zero   = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2"
	long   = "SELECT count(*) FROM generate_series(1, 2000000000)"
	hour   = "SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI')"
	many   = "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 5000"
	types  = "SELECT true, 7::int2, (-2147483648)::int4, 9007199254740993::int8, 1.5::float8, 12.50::numeric(10,2), 'Grüße'::text, " +
		"(date '2026-01-31')::text, (time '12:30:00')::text, '00000000-0000-0000-0000-000000000042'::uuid"
)

var (
	background = context.Background()
	heard      []string
	main_      *sql.Conn
)

func main() {
	connector, err := pq.NewConnector(os.Getenv("PGMOAT_DSN"))
	must(err)
	listening := pq.ConnectorWithNoticeHandler(connector, func(notice *pq.Error) { heard = append(heard, string(notice.Code)) })
	main_, err = sql.OpenDB(listening).Conn(background)
	must(err)

	item("connect", func() any { return briefly("PGMOAT_DSN", func(db *sql.DB) any { return one(db, "SELECT 1") }) })
	item("tls", func() any { return briefly("PGMOAT_TLS_DSN", func(db *sql.DB) any { return one(db, "SELECT 1") }) })
	item("types", typed)
	item("nulls", nulls)
	item("arrays", arrays)
	item("json", func() any { return one(main_, `SELECT '{"a": [1, 2]}'::jsonb -> 'a' -> 1`) })
	item("bytea", bytea)
	item("prepared", prepared)
	item("transaction", transaction)
	item("savepoint", func() any {
		for _, text := range []string{"BEGIN", note, "SAVEPOINT s", note, "ROLLBACK TO s", "COMMIT"} {
			execute(text)
		}
		return execute(forget)
	})
	item("error", func() any { return code(zero) })
	item("syntax", func() any { return code("SELEC 1") })
	item("failed transaction", func() any {
		execute("BEGIN")
		codes := code(zero) + " " + code("SELECT 1")
		execute("ROLLBACK")
		return codes + " " + one(main_, "SELECT 1")
	})
	item("denied", func() any { return code("SELECT secret FROM internal.api_keys") })
	item("refused", func() any { return code("SELECT id FROM app.orders WHERE id = 4242") })
	item("cancel", cancel)
	item("timeout", func() any {
		execute("SET statement_timeout = 100")
		codes := code(long)
		execute("RESET statement_timeout")
		return codes + " " + one(main_, "SELECT 1")
	})
	item("setting", func() any {
		execute("SET TimeZone = 'Asia/Tokyo'")
		hours := one(main_, hour) + " " + one(main_, hour)
		execute("RESET TimeZone")
		return hours + " " + one(main_, hour)
	})
	item("notice", func() any {
		heard = nil
		execute("ROLLBACK")
		return strings.Join(heard, " ")
	})
	item("rows", rows)
	item("copy out", func() any { return "- it copies in alone" })
	item("copy in", copyIn)
	item("pool", pool)
	item("in a transaction", inTransaction)
	must(main_.Close())
}

type queries interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func item(name string, what func() any) {
	defer func() {
		if surprise := recover(); surprise != nil {
			fmt.Printf("%s\tsurprise: %v\n", name, surprise)
		}
	}()
	fmt.Printf("%s\t%v\n", name, what())
}

func briefly(variable string, work func(*sql.DB) any) any {
	db, err := sql.Open("postgres", os.Getenv(variable))
	must(err)
	defer db.Close()
	return work(db)
}

func one(on queries, text string, values ...any) string {
	var found string
	must(on.QueryRowContext(background, text, values...).Scan(&found))
	return found
}

func execute(text string) int64 {
	done, err := main_.ExecContext(background, text)
	must(err)
	count, err := done.RowsAffected()
	must(err)
	return count
}

func code(text string) string {
	return codeOf(background, main_, text)
}

func codeOf(context context.Context, on queries, text string) string {
	var found string
	err := on.QueryRowContext(context, text).Scan(&found)
	if failed, is := err.(*pq.Error); is {
		return string(failed.Code)
	}
	must(err)
	return found
}

func typed() any {
	var (
		truth             bool
		small             int16
		number            int32
		large             int64
		float             float64
		numeric, text     string
		date, clock, uuid string
	)
	must(main_.QueryRowContext(background, types).Scan(&truth, &small, &number, &large, &float, &numeric, &text, &date, &clock, &uuid))
	return fmt.Sprint(truth, " ", small, " ", number, " ", large, " ", float, " ", numeric, " ", text, " ", date, " ", clock, " ", uuid)
}

func nulls() any {
	var number sql.NullInt32
	var text, given sql.NullString
	must(main_.QueryRowContext(background, "SELECT NULL::int, NULL::text, $1::text", nil).Scan(&number, &text, &given))
	if number.Valid || text.Valid || given.Valid {
		return "values"
	}
	return "null null null"
}

func arrays() any {
	var numbers []sql.NullInt32
	var texts []string
	values := []any{pq.Array([]sql.NullInt32{{Int32: 1, Valid: true}, {Int32: 2, Valid: true}, {}}), pq.Array([]string{"a", "b c"})}
	row := main_.QueryRowContext(background, "SELECT $1::int[], $2::text[]", values...)
	must(row.Scan(pq.Array(&numbers), pq.Array(&texts)))
	var words []string
	for _, number := range numbers {
		if number.Valid {
			words = append(words, fmt.Sprint(number.Int32))
		} else {
			words = append(words, "null")
		}
	}
	return strings.Join(words, ",") + " " + strings.Join(texts, ",")
}

func bytea() any {
	sent := make([]byte, 1<<20)
	for at := range sent {
		sent[at] = byte(at)
	}
	var back []byte
	must(main_.QueryRowContext(background, "SELECT $1::bytea", sent).Scan(&back))
	if bytes.Equal(back, sent) {
		return fmt.Sprint(len(back), " same")
	}
	return fmt.Sprint(len(back), " other")
}

func prepared() any {
	statement, err := main_.PrepareContext(background, id)
	must(err)
	defer statement.Close()
	sum := 0
	for order := 2; order < 42; order += 2 {
		var found int
		must(statement.QueryRow("acme", order).Scan(&found))
		sum += found
	}
	return sum
}

func transaction() any {
	begin := func() *sql.Tx {
		transaction, err := main_.BeginTx(background, nil)
		must(err)
		_, err = transaction.Exec(note)
		must(err)
		return transaction
	}
	must(begin().Rollback())
	rolledBack := one(main_, notes)
	must(begin().Commit())
	return fmt.Sprint(rolledBack, " ", execute(forget))
}

// What is typed within a transaction: Parse, Describe, Sync, and Bind, Execute, Sync behind it.
func inTransaction() any {
	transaction, err := main_.BeginTx(background, &sql.TxOptions{Isolation: sql.LevelSerializable})
	must(err)
	found := one(transaction, "SELECT $1::int", 1)
	must(transaction.Commit())
	return found
}

// A context that ends sends a cancel; the driver takes another connection afterwards.
func cancel() any {
	return briefly("PGMOAT_DSN", func(db *sql.DB) any {
		limited, stop := context.WithTimeout(background, 200*time.Millisecond)
		defer stop()
		return codeOf(limited, db, long) + " " + one(db, "SELECT 1")
	})
}

func rows() any {
	found, err := main_.QueryContext(background, many)
	must(err)
	defer found.Close()
	count, sum := 0, 0
	for found.Next() {
		var order int
		must(found.Scan(&order))
		count, sum = count+1, sum+order
	}
	must(found.Err())
	return fmt.Sprint(count, " ", sum)
}

func copyIn() any {
	return briefly("PGMOAT_OPS_DSN", func(db *sql.DB) any {
		transaction, err := db.Begin()
		must(err)
		statement, err := transaction.Prepare(pq.CopyInSchema("app", "notes", "tenant_id", "body"))
		must(err)
		for line := 0; line < 2; line++ {
			_, err = statement.Exec("acme", "lib/pq")
			must(err)
		}
		_, err = statement.Exec()
		must(err)
		must(statement.Close())
		must(transaction.Commit())
		return execute(forget)
	})
}

func pool() any {
	return briefly("PGMOAT_DSN", func(db *sql.DB) any {
		db.SetMaxOpenConns(20)
		var all sync.WaitGroup
		var lock sync.Mutex
		right := 0
		for client := 1; client <= 20; client++ {
			all.Add(1)
			go func(order int) {
				defer all.Done()
				for turn := 0; turn < 10; turn++ {
					var found int
					if db.QueryRow(id, "acme", order).Scan(&found) == nil && found == order {
						lock.Lock()
						right++
						lock.Unlock()
					}
				}
			}(2 * client)
		}
		all.Wait()
		return right
	})
}
