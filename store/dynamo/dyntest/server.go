package dyntest

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Kind names a program that speaks the protocol of DynamoDB.
type Kind string

const (
	// Dynoxide has transactions, TTL, and the item of a failed condition. Tables can be written before they are ACTIVE.
	Dynoxide Kind = "dynoxide"

	// Dynalite has none of them: it answers UnknownOperationException, and leaves out the item. It starts in a quarter of a second or more.
	Dynalite Kind = "dynalite"

	// DynamoDB is the service, which Shared uses if ROTA_TEST_DYNAMODB is set.
	DynamoDB Kind = "dynamodb"
)

const (
	host   = "127.0.0.1"
	region = "us-east-1" // of the servers of tests, which accept any
)

// Server is a server with tables.
type Server struct {
	kind     Kind
	endpoint string // empty: that of the region
	region   string
	prefix   string // of the names of tables

	port    int
	data    string // directory of the tables; empty: they are in memory
	log     string
	process *process
}

// Start starts a server with its tables in memory. It ends with the test.
func Start(t testing.TB, kind Kind) *Server {
	t.Helper()
	return start(t, kind, "")
}

// StartOnDisk starts a server whose tables survive Kill. It ends with the test.
func StartOnDisk(t testing.TB, kind Kind) *Server {
	t.Helper()
	return start(t, kind, t.TempDir())
}

func start(t testing.TB, kind Kind, data string) *Server {
	t.Helper()
	skipUnsupported(t, kind)
	s, err := open(kind, t.TempDir(), data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("end of the log of %s:\n%s", kind, tail(s.log))
		}
	})
	return s
}

// shared holds the servers of this process.
var shared struct {
	mu      sync.Mutex
	servers map[Kind]*Server
}

// Shared returns the server that the tests of a process share. The first call starts it. It ends with the process. If ROTA_TEST_DYNAMODB is
// set, DynamoDB takes the place of Dynoxide.
func Shared(t testing.TB, kind Kind) *Server {
	t.Helper()
	if url := os.Getenv(URLVar); url != "" && kind == Dynoxide {
		s, err := openService(url)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if !endsWithParent {
		return Start(t, kind)
	}
	skipUnsupported(t, kind)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.servers == nil {
		shared.servers = map[Kind]*Server{}
	}
	if s := shared.servers[kind]; s != nil && s.process.hasExited() {
		t.Logf("the server %s has ended by itself; the test has a new one", kind) // dynalite does so now and then
		delete(shared.servers, kind)
	}
	if shared.servers[kind] == nil {
		s, err := Open(kind)
		if err != nil {
			t.Fatal(err)
		}
		shared.servers[kind] = s
	}
	return shared.servers[kind]
}

// open starts a server on a free port. It retries if another process takes the port first.
func open(kind Kind, dir, data string) (s *Server, err error) {
	setCredentials()
	for range 5 {
		s = &Server{kind: kind, region: region, prefix: "rota", data: data, log: filepath.Join(dir, "server.log")}
		if s.port, err = freePort(); err != nil {
			return nil, err
		}
		s.endpoint = "http://" + net.JoinHostPort(host, strconv.Itoa(s.port))
		if err = s.start(); err == nil || !strings.Contains(strings.ToLower(err.Error()), "address already in use") {
			return s, err
		}
	}
	return nil, err
}

func (s *Server) start() error {
	args, err := command(s.kind, s.port, s.data)
	if err != nil {
		return err
	}
	if s.process, err = startProcess(s.log, args); err != nil {
		return err
	}
	if err := s.process.waitReady(s.ping); err != nil {
		s.process.kill()
		return fmt.Errorf("%s: %w:\n%s", s.kind, err, tail(s.log))
	}
	return nil
}

// ping asks for the page that load balancers of DynamoDB read.
func (s *Server) ping() error {
	answer, err := http.Get(s.endpoint)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", s.endpoint, answer.Status)
	}
	return nil
}

// Kind returns the kind of the server, which is DynamoDB if ROTA_TEST_DYNAMODB is set.
func (s *Server) Kind() Kind { return s.kind }

// Endpoint returns the URL of the server, or an empty text for the endpoint of the region.
func (s *Server) Endpoint() string { return s.endpoint }

// Region returns the region of the server.
func (s *Server) Region() string { return s.region }

// Kill ends the server at once.
func (s *Server) Kill() { s.own().kill() }

// Restart kills the server and starts it again at the same endpoint. Without StartOnDisk its tables are gone.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Kill()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

// Pause stops the server without closing its connections.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	err := s.own().signal(stopSignal)
	if err == nil {
		err = waitStopped(s.process.cmd.Process.Pid)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Resume ends Pause.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	if err := s.own().signal(continueSignal); err != nil {
		t.Fatal(err)
	}
}

// own returns the process of a server that this process has started.
func (s *Server) own() *process {
	if s.kind == DynamoDB {
		panic("this is DynamoDB itself; a test that stops its server starts one with dyntest.Start")
	}
	return s.process
}
