package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestMain runs the program instead of the tests if ROTA_TEST_PROGRAM is set, so that tests can start it as a process.
func TestMain(m *testing.M) {
	if os.Getenv("ROTA_TEST_PROGRAM") != "" {
		main()
		return
	}
	pgtest.Main(m)
}

// testServer is a server in a process of its own.
type testServer struct {
	t       *testing.T
	data    string
	env     []string // variables of the server besides the usual ones
	process *exec.Cmd
	errs    *bytes.Buffer
}

// startServer starts a server on a free port and waits until it is ready. The end of the test stops it.
func startServer(t *testing.T, args ...string) *testServer {
	t.Helper()
	s := &testServer{t: t, data: filepath.Join(t.TempDir(), "data")}
	s.start(args...)
	return s
}

func (s *testServer) start(args ...string) {
	s.t.Helper()
	s.errs = &bytes.Buffer{}
	s.process = exec.Command(os.Args[0], append([]string{"serve", "--data", s.data, "--http", "127.0.0.1:0", "--sql", "127.0.0.1:0"}, args...)...)
	s.process.Env = append([]string{"ROTA_TEST_PROGRAM=1", "PATH=" + os.Getenv("PATH"), "HOME=" + s.t.TempDir()}, s.env...)
	s.process.Dir = s.t.TempDir()
	s.process.Stderr = s.errs
	out, err := s.process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.stop)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "is ready") {
			go func() {
				for lines.Scan() { // a full pipe would block the server
				}
			}()
			return
		}
	}
	_ = s.process.Wait()
	s.t.Fatalf("the server did not become ready:\n%s", s.errs)
}

func (s *testServer) stop() {
	if s.process.ProcessState != nil {
		return
	}
	_ = s.process.Process.Signal(syscall.SIGTERM)
	if err := s.process.Wait(); err != nil {
		s.t.Errorf("the server ended with %v:\n%s", err, s.errs)
	}
}

// run runs one command line against the server.
func (s *testServer) run(commandLine string) (out, errs string, code int) {
	return s.runWith(commandLine, terminal{}, nil)
}

// runWith is run with a terminal and environment variables. STDIN is the text on standard input.
func (s *testServer) runWith(commandLine string, sc terminal, env map[string]string) (out, errs string, code int) {
	var stdout, stderr bytes.Buffer
	code = run(words(commandLine), environment{
		in: strings.NewReader(env["STDIN"]), out: &stdout, err: &stderr, now: time.Now, terminal: sc, host: cmp.Or(env["HOST"], "web1"),
		getenv: func(name string) string {
			if name == "ROTA_DATA" {
				return s.data
			}
			return env[name]
		},
	})
	return stdout.String(), stderr.String(), code
}

// must runs a command line and fails the test if it does not exit with 0.
func (s *testServer) must(commandLine string) string {
	s.t.Helper()
	out, errs, code := s.run(commandLine)
	if code != exitDone {
		s.t.Fatalf("rota %s exits with %d: %s%s", commandLine, code, out, errs)
	}
	return out
}

// transcript replays a transcript against a server. Values that differ between runs are replaced by names: ids by ID1, ID2
// and so on in the order of their appearance, so that later commands can use them, and times.
type transcript struct {
	server *testServer
	ids    []string
}

func (s *transcript) regenerate(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "# "):
			b.WriteString(line)
		case strings.HasPrefix(line, "$ rota"):
			b.WriteString(line + s.runAndFormat(strings.TrimPrefix(line, "$ rota")) + "\n")
		}
	}
	return b.String()
}

func (s *transcript) runAndFormat(commandLine string) string {
	commandLine = regexp.MustCompile(`\bID\d+\b`).ReplaceAllStringFunc(commandLine, func(name string) string {
		n, _ := strconv.Atoi(name[2:])
		if n > len(s.ids) {
			return name
		}
		return s.ids[n-1]
	})
	out, errs, code := s.server.run(strings.NewReplacer("DATA", s.server.data, "SAMPLE", sampleID).Replace(commandLine))
	text := out
	for line := range strings.Lines(errs) {
		text += "! " + line
	}
	if code != exitDone {
		text += fmt.Sprintf("exit %d\n", code)
	}
	return s.normalize(text)
}

var volatile = []struct {
	shape *regexp.Regexp
	name  string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \([^)]*\)`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+( UTC)?`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d\d:\d\d`), "NEXT"},
	{regexp.MustCompile(`(\d\d:\d\d:\d\d  +)(\d+[dhms] )?\d+[dhms]( ago)?`), "${1}DISTANCE"},
	{regexp.MustCompile(`\b(\d+[dhms] )?\d+[dhms] ago|(^| )now(\s|$)`), "${2}AGO${3}"},
	{regexp.MustCompile(`\b(completed|failed|cancelled) in \d+(\.\d+)?(ms|µs|s)\b`), "${1} in TOOK"}, // may be whole seconds
	{regexp.MustCompile(`\bin (\d+[dhm] )?\d+[dhms]\b`), "SOON"},
	{regexp.MustCompile(`(in |  )\d+(\.\d+)?(ms|µs|s)\b`), "${1}TOOK"},
	{regexp.MustCompile(`(cursor:? "?)[\w-]{10,}`), "${1}CURSOR"},
	{regexp.MustCompile(`(its first )\d+( characters, such as )[0-9a-f-]+`), "${1}N${2}PREFIX"},
	{regexp.MustCompile(`127\.0\.0\.1:\d{2,5}\b`), "HOST"},
	{regexp.MustCompile(`\brota_[a-z2-9]{12}_[A-Za-z0-9]{32}\b`), "TOKEN"},
	{regexp.MustCompile(`((?m:^)|token |"id": ")[a-z2-9]{12}(  | of user|")`), "${1}TOKENID${2}"},
	{regexp.MustCompile(`logs/\d{4}-\d\d-\d\d/`), "logs/DAY/"},
	{regexp.MustCompile(`  +`), "  "},
}

// sampleID is the id in hints and examples.
const sampleID = "01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60"

var idShape = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (s *transcript) normalize(text string) string {
	text = strings.ReplaceAll(text, s.server.data, "DATA")
	text = hideDirectory(text)
	text = strings.ReplaceAll(text, sampleID, "SAMPLE")
	text = idShape.ReplaceAllStringFunc(text, func(id string) string {
		for i, known := range s.ids {
			if known == id {
				return fmt.Sprintf("ID%d", i+1)
			}
		}
		s.ids = append(s.ids, id)
		return fmt.Sprintf("ID%d", len(s.ids))
	})
	for _, v := range volatile {
		text = v.shape.ReplaceAllString(text, v.name)
	}
	return text
}

// TestServerTranscripts replays the transcripts in testdata/server, each against a server of its own.
func TestServerTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/server/*.transcript")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".transcript"), func(t *testing.T) {
			t.Parallel() // transcripts wait for jobs
			s := &transcript{server: startServer(t)}
			replay(t, file, s.regenerate)
		})
	}
}
