import java.sql.*;
import java.util.Properties;

/** What a program with PostgreSQL's JDBC driver does in a day, said in a few lines. */
public class Jdbc {
  public static void main(String[] args) throws Exception {
    for (String mode : new String[] {"extended", "simple", "extendedCacheEverything"}) {
      Properties p = new Properties();
      p.put("user", "admin");
      p.put("password", args[1]);
      p.put("preferQueryMode", mode);
      p.put("prepareThreshold", "1"); // values in binary from the beginning
      try (Connection c = DriverManager.getConnection("jdbc:postgresql://" + args[0] + "/rota", p)) {
        day(c, mode.toLowerCase());
      }
    }
  }

  static void day(Connection c, String name) throws SQLException {
    Statement s = c.createStatement();
    s.executeUpdate("CREATE JOB " + name + " SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'");
    PreparedStatement q = c.prepareStatement("SELECT job_name, created_at_ts, 1, true FROM sys.jobs WHERE job_name = ? AND created_at_ts < ?");
    for (int i = 0; i < 3; i++) {
      q.setString(1, name);
      q.setTimestamp(2, new Timestamp(System.currentTimeMillis() + 60_000));
      ResultSet r = q.executeQuery();
      r.next();
      boolean recent = Math.abs(r.getTimestamp(2).getTime() - System.currentTimeMillis()) < 60_000;
      System.out.println(r.getString(1) + " " + recent + " " + r.getInt(3) + " " + r.getBoolean(4));
    }
    c.setAutoCommit(false);
    s.executeUpdate("CREATE JOB dropped SCHEDULE EVERY 5 MINUTES AS 'SELECT 1'");
    Savepoint kept = c.setSavepoint();
    try {
      s.executeUpdate("DROP JOB nope");
    } catch (SQLException e) {
      System.out.println(e.getSQLState());
    }
    c.rollback(kept);
    s.setFetchSize(2);
    ResultSet r = s.executeQuery("SELECT name FROM (SELECT 'a' AS name UNION ALL SELECT 'b' UNION ALL SELECT 'c') AS t ORDER BY name");
    while (r.next()) System.out.print(r.getString(1));
    System.out.println();
    c.rollback();
    c.setAutoCommit(true);
    System.out.println("valid " + c.isValid(3));
  }
}
