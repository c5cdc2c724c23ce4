import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.Properties;

/** What the JDBC driver's metadata asks. Usage: JdbcMetadata.java HOST PORT DATABASE USER PASSWORD [OPTIONS] */
public final class JdbcMetadata {
    private static final String[] SCHEMAS = {"app", "billing"};

    public static void main(String[] given) throws SQLException {
        Properties login = new Properties();
        login.setProperty("user", given[3]);
        login.setProperty("password", given[4]);
        if (given.length > 5) {
            login.setProperty("options", given[5]);
        }
        String url = "jdbc:postgresql://" + given[0] + ":" + given[1] + "/" + given[2];
        try (Connection connection = DriverManager.getConnection(url, login)) {
            ask(connection.getMetaData());
        }
    }

    private static void ask(DatabaseMetaData data) throws SQLException {
        System.out.println(data.getDatabaseMajorVersion() + " " + data.getMaxColumnNameLength());
        print("schemas", () -> data.getSchemas());
        print("schemas like", () -> data.getSchemas(null, "a%"));
        print("table types", () -> data.getTableTypes());
        print("types", () -> data.getTypeInfo());
        print("client info", () -> data.getClientInfoProperties());
        print("user types", () -> data.getUDTs(null, null, "%", null));
        for (String schema : SCHEMAS) {
            print("tables", () -> data.getTables(null, schema, "%", null));
            print("tables of kinds", () -> data.getTables(null, schema, "%", new String[] {"TABLE", "VIEW", "SEQUENCE", "INDEX", "TYPE"}));
            print("columns", () -> data.getColumns(null, schema, "%", "%"));
            print("functions", () -> data.getFunctions(null, schema, "%"));
            print("function columns", () -> data.getFunctionColumns(null, schema, "%", "%"));
            print("procedures", () -> data.getProcedures(null, schema, "%"));
            print("procedure columns", () -> data.getProcedureColumns(null, schema, "%", "%"));
            print("table privileges", () -> data.getTablePrivileges(null, schema, "%"));
            try (ResultSet tables = data.getTables(null, schema, "%", new String[] {"TABLE", "PARTITIONED TABLE"})) {
                while (tables.next()) {
                    table(data, schema, tables.getString("TABLE_NAME"));
                }
            }
        }
        print("cross", () -> data.getCrossReference(null, "app", "customers", null, "app", "orders"));
        print("keywords", data.getSQLKeywords());
        print("catalog columns", () -> data.getColumns(null, "pg_catalog", "pg_class", "rel%"));
    }

    private static void table(DatabaseMetaData data, String schema, String table) throws SQLException {
        print("primary keys of " + table, () -> data.getPrimaryKeys(null, schema, table));
        print("imported keys of " + table, () -> data.getImportedKeys(null, schema, table));
        print("exported keys of " + table, () -> data.getExportedKeys(null, schema, table));
        print("indexes of " + table, () -> data.getIndexInfo(null, schema, table, false, true), "CARDINALITY", "PAGES");
        print("best row of " + table, () -> data.getBestRowIdentifier(null, schema, table, DatabaseMetaData.bestRowSession, true));
        print("versions of " + table, () -> data.getVersionColumns(null, schema, table));
        print("column privileges of " + table, () -> data.getColumnPrivileges(null, schema, table, "%"));
    }

    private static void print(String what, String value) {
        System.out.println("== " + what + "\n" + value);
    }

    /** Every row; not the columns that tell of sizes. What is refused is said, and the next question is asked. */
    private static void print(String what, Question question, String... without) {
        System.out.println("== " + what);
        try (ResultSet rows = question.ask()) {
            print(rows, without);
        } catch (SQLException refused) {
            System.out.println("refused: " + refused.getMessage());
        }
    }

    private interface Question {
        ResultSet ask() throws SQLException;
    }

    private static void print(ResultSet rows, String... without) throws SQLException {
        ResultSetMetaData columns = rows.getMetaData();
        while (rows.next()) {
            StringBuilder line = new StringBuilder();
            for (int at = 1; at <= columns.getColumnCount(); at++) {
                String name = columns.getColumnLabel(at);
                boolean shown = true;
                for (String hidden : without) {
                    shown &= !hidden.equalsIgnoreCase(name);
                }
                line.append(shown ? rows.getString(at) : "-").append('\t');
            }
            System.out.println(line);
        }
    }
}
