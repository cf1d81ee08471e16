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
// Those that stop or kill it start one of their own.
package pgtest
