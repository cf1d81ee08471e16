// Package site runs Rota servers and workers in processes of their own, for tests
// that kill, freeze and cut them off. The processes are the test program itself,
// started once more: see Main.
package workertest
