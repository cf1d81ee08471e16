// Package pgtest runs real PostgreSQL servers, and PgBouncer before them, for
// tests: from the binaries that the machine has, each in a directory of its own,
// as nobody's service. They end with the process that started them, however it
// ends.
//
// Most tests share one server, and have a database each:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		server := pgtest.Shared(t)
//		url := server.URL(server.NewDatabase(t, ""))
//	}
//
// Tests that stop, kill or configure their server start one of their own. In a run of
// many packages the command pgtest/withpostgres starts the server once for them all.
package pgtest
