// Package mariatest runs a real MariaDB server for tests: from the binaries that
// the machine has, in a directory of its own, reached by a socket in it, as
// nobody's service. It ends with the process that started it, however that ends.
//
//	func TestMain(m *testing.M) { defer mariatest.Close(); m.Run() }
//
//	func TestSomething(t *testing.T) {
//		url := mariatest.NewDatabase(t)
//	}
package mariatest
