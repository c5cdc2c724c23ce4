import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Prints the first column of a query. Usage: JdbcQuery.java URL SQL */
public final class JdbcQuery {
    public static void main(String[] given) throws SQLException {
        try (Connection connection = DriverManager.getConnection(given[0]);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(given[1])) {
            while (rows.next()) {
                System.out.println(rows.getString(1));
            }
        }
    }
}
