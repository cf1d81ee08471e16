// Package mariatest runs a real MariaDB server for tests: it uses the
// installed binaries, a temporary directory and a socket in it, and no system service.
// The server ends with the process that started it, even if that is killed.
//
//	func TestMain(m *testing.M) { defer mariatest.Close(); m.Run() }
//
//	func TestSomething(t *testing.T) {
//		url := mariatest.NewDatabase(t)
//	}
package mariatest
