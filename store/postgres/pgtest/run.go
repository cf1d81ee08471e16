package pgtest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// RunVar names the environment variable with the path of a file that describes the
// server of a test run: one server for the tests of all packages. Without it Shared
// starts a server for its own process.
const RunVar = "ROTA_TEST_POSTGRES"

// runConnections is the max_connections of the server of a run. Every package that
// shares it opens fewer than a server of its own would allow.
const runConnections = 800

// Run is the server of a test run.
type Run struct {
	*Cluster
	file *os.File // describes the server to other processes
}

// description is the content of the file of a run.
type description struct {
	Dir  string `json:"dir"`
	Port int    `json:"port"`
}

// StartRun starts the server of a test run in the checkout dir. It does not wait for
// the disk: the tests that share it are not about durability.
func StartRun(dir string) (*Run, error) {
	c, err := Start("", Options{Settings: map[string]string{"max_connections": fmt.Sprint(runConnections)}})
	if err != nil {
		return nil, err
	}
	r := &Run{Cluster: c}
	if r.file, err = runFile(c.dir.path, dir); err == nil {
		err = r.describe()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// runFile opens the file of a run. Its path is the same in every run of a checkout,
// because go test caches the results of tests by the values of their environment
// variables. A second run at the same time uses a file in its own directory.
func runFile(home, checkout string) (*os.File, error) {
	sum := sha256.Sum256([]byte(checkout))
	path := filepath.Join(os.TempDir(), fmt.Sprintf("rota-pgrun-%x.json", sum[:8]))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		if tryLock(file) == nil {
			return file, file.Truncate(0)
		}
		_ = file.Close()
	}
	return os.Create(filepath.Join(home, "run.json"))
}

func (r *Run) describe() error {
	text, err := json.Marshal(description{r.dir.path, r.port})
	if err == nil {
		_, err = r.file.WriteAt(text, 0)
	}
	return err
}

// Env returns the environment variable that points tests to the server.
func (r *Run) Env() string { return RunVar + "=" + r.file.Name() }

// Close stops the server and removes its files.
func (r *Run) Close() {
	r.Cluster.Close()
	if r.file != nil {
		_ = os.Remove(r.file.Name())
		_ = r.file.Close()
	}
}

// errShared is the error of a test that stops the server of a run.
var errShared = errors.New("this server is shared by the tests of all packages; a test that stops or kills its server starts one with pgtest.Start")

// attach connects to the server of a run by its file.
func attach(path string) (*Cluster, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", RunVar, err)
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", RunVar, path, err)
	}
	c := newCluster(Options{})
	c.attached, c.dir, c.port = true, clusterDir{path: d.Dir}, d.Port
	go c.dropLoop()
	return c, nil
}
