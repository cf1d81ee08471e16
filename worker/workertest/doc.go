// Package workertest runs Rota servers and workers in processes of their own, for tests
// that kill, suspend and disconnect them. The processes are the test program itself,
// started again: see Main.
package workertest
