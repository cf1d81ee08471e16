package drivertest

import (
	"os"
	"testing"
)

// jdbcJar is PostgreSQL's JDBC driver where Debian has it.
const jdbcJar = "/usr/share/java/postgresql.jar"

// The output of a Java program equals the transcript.
func TestJDBCTranscript(t *testing.T) {
	if _, err := os.Stat(jdbcJar); err != nil {
		t.Fatalf("%v; install it: make drivers, or apt-get install libpostgresql-jdbc-java", err)
	}
	java := findProgram(t, "java", "default-jdk-headless")
	s := startWithHistory(t)
	out, err := s.run(t, "", java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", jdbcJar, "testdata/Transcript.java")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	golden(t, "jdbc.out", out)
}
