// Package pgtest runs PostgreSQL servers, and PgBouncer in front of them, for tests. It uses the
// installed binaries and a directory of its own for each server, not the system's service. Servers
// end with the process that started them, however that ends.
//
// Most tests share one server and use a database each:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		server := pgtest.Shared(t)
//		url := server.URL(server.NewDatabase(t, ""))
//	}
//
// Tests that stop, kill or configure their server start one with Start. For a test run of many
// packages the command pgtest/withpostgres starts one server for all of them.
package pgtest
