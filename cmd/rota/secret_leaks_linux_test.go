package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota/sql/system"
)

// collector receives error reports, traces, webhooks and the requests of jobs. It repeats the Authorization that it receives.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	bodies map[string]string // by path
	login  string            // the last Authorization of a job
}

func newCollector(t *testing.T) *collector {
	c := &collector{bodies: map[string]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if zipped, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, _ = io.ReadAll(zipped)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.URL.Path == "/job" {
			c.login = r.Header.Get("Authorization")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(c.login))
			return
		}
		c.bodies[r.URL.Path] += string(body) + "\n"
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) received(path, part string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Contains(c.bodies[path], part)
}

func (c *collector) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(slices.Collect(maps.Values(c.bodies)), "\n")
}

// secretForms are what no place may contain: the secret, escaped for URLs, HTML and JSON, in hexadecimal, and in base64 at each
// alignment without the characters at its ends.
func secretForms() []string {
	all := []string{programSecret, url.QueryEscape(programSecret), url.PathEscape(programSecret), hex.EncodeToString([]byte(programSecret)), html.EscapeString(programSecret)}
	quoted, _ := json.Marshal(programSecret) // a string is always encoded
	all = append(all, string(quoted[1:len(quoted)-1]), numericEscapes(`\u%04x`), numericEscapes(`\u%04X`), numericEscapes("&#%d;"), numericEscapes("&#x%x;"))
	for _, format := range []string{`\u%04x`, `\u%04X`, "&#%d;", "&#x%x;"} { // only what is neither a letter nor a digit
		all = append(all, escapedSpecials(format))
	}
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + programSecret))
		all = append(all, encoded[4:len(encoded)-4])
	}
	return all
}

// numericEscapes is the secret with each character escaped.
func numericEscapes(format string) string {
	var b strings.Builder
	for _, r := range programSecret {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

// escapedSpecials is the secret with the characters escaped that are neither letters nor digits of ASCII.
func escapedSpecials(format string) string {
	return regexp.MustCompile("[^0-9A-Za-z]").ReplaceAllStringFunc(programSecret, func(one string) string {
		r, _ := utf8.DecodeRuneInString(one)
		return fmt.Sprintf(format, r)
	})
}

func wantNoSecret(t *testing.T, place, text string) {
	t.Helper()
	plain := strings.NewReplacer("\r", "", "\n", "", `\r`, "", `\n`, "").Replace(text) // base64 may be wrapped
	for _, form := range secretForms() {
		if strings.Contains(text, form) || strings.Contains(plain, form) {
			t.Errorf("%s contains %q", place, form)
		}
	}
}

// wantNoSecretInFiles reads all files of directories, and fails if it finds none.
func wantNoSecretInFiles(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		files := 0
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil //nolint:nilerr // a file that is gone meanwhile contains nothing
			}
			text, err := os.ReadFile(path)
			if err == nil {
				files++
				wantNoSecret(t, path, string(text))
			}
			return nil
		})
		if files == 0 {
			t.Errorf("%s has no files", dir)
		}
	}
}

// leakScript prints its secret in all ways, waits until the test has looked at the processes, and fails.
const leakScript = `echo "$DB_PASSWORD"; printf 'user:%s' "$DB_PASSWORD" | base64; printf '{"some":"json","password":"%s","more":"and more of it"}' "$DB_PASSWORD" | base64 -w 64 >&2
printf %s "$DB_PASSWORD" | od -An -v -tx1 | tr -d ' \n'; echo; echo "{\"password\": \"$DB_PASSWORD\"}"; sleep 1; exit 3`

// wantNoSecretInProcesses reads the arguments of all processes of the machine until a job runs no more.
func (s *testServer) wantNoSecretInProcesses(running func() bool) {
	s.t.Helper()
	seen := false
	for late := time.Now().Add(20 * time.Second); running(); {
		if time.Now().After(late) {
			s.t.Fatalf("a job does not end:\n%s\n%s", s.must("job list -o yaml"), s.errs)
		}
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			s.t.Fatal(err)
		}
		for _, path := range append(lines, fmt.Sprintf("/proc/%d/environ", s.process.Process.Pid)) {
			text, _ := os.ReadFile(path) // the process may have ended
			seen = seen || bytes.Contains(text, []byte("od -An -v -tx1"))
			wantNoSecret(s.t, path, string(text))
		}
		time.Sleep(20 * time.Millisecond)
	}
	if !seen {
		s.t.Error("the program was not among the processes")
	}
}

// TestSecretIsInNoPlace uses a secret in a program and in a header, both of which print it and fail. Then it looks for the value in
// each table, answer, file, log, report, trace, webhook, export and backup.
func TestSecretIsInNoPlace(t *testing.T) {
	c := newCollector(t)
	dsn := strings.Replace(c.URL, "://", "://0123456789abcdef@", 1) + "/7"
	cert, key := writeCertificate(t, t.TempDir(), net.IPv4(127, 0, 0, 1))
	s := startExecServer(t, "allow: [/bin/sh]\nhttp_cert: "+cert+"\nhttp_key: "+key+"\nlog_level: debug\nhttp_allow: loopback\nsentry_dsn: "+dsn+"\notlp_endpoint: "+c.URL+"\ntrace_sample: 1")
	params := filepath.Join(t.TempDir(), "params.json")
	write := func(text string) {
		if err := os.WriteFile(params, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(fmt.Sprintf(`{"command": "/bin/sh", "args": ["-c", %s]}`, quoteJSON(leakScript)))
	s.must("template create backup --type exec --retries 0 --params @" + params)
	write(`{"url": "` + c.URL + `/job", "headers": {"Authorization": "Bearer ${secret:TOKEN}"}}`)
	s.must("template create call --type http --retries 0 --params @" + params)
	s.must("webhook add " + c.URL + "/webhook --secret 0123456789abcdef0123")
	s.setSecret("backup/DB_PASSWORD", programSecret)
	s.setSecret("call/TOKEN", programSecret)
	s.must("job create --template call")
	id := idShape.FindString(s.must("job create --template backup -o json"))
	s.wantNoSecretInProcesses(func() bool { return !strings.Contains(s.must("job show "+id+" -o json"), `"sequel": "dead"`) })
	for deadline := time.Now().Add(time.Minute); !c.received("/webhook", "job.dead") || !c.received("/api/7/envelope/", "exit code 3") || !c.received("/v1/traces", "exec") || !c.received("/api/7/envelope/", "http_500"); {
		if time.Sleep(50 * time.Millisecond); time.Now().After(deadline) {
			t.Fatalf("the reports did not arrive: %v\n%s", c.bodies, s.errs)
		}
	}
	wantNoSecret(t, "a report, a trace or a webhook", c.all())
	if c.login != "Bearer "+programSecret {
		t.Errorf("the job sent %q", c.login)
	}
	log := s.must("job logs " + id)
	if strings.Count(log, "***") < 5 {
		t.Errorf("the log is %s", log)
	}
	s.must("secret rotate")
	backup := filepath.Join(t.TempDir(), "backup.db")
	restored := filepath.Join(t.TempDir(), "restored")
	commands := []string{
		"job show " + id, "job show " + id + " -o json", "job list -o yaml", "job logs " + id, "dead list -o json", "execution list -o json", "template show backup -o yaml",
		"secret list -o json", "export", "export -o sql", "audit list -o json", "explain " + id, "type list -o json", "server status -o json", "backup " + backup,
	}
	for _, table := range slices.Sorted(maps.Keys(system.Tables())) {
		commands = append(commands, "sql -o json -c 'SELECT * FROM sys."+table+"'")
	}
	for _, line := range commands {
		out, errs, code := s.run(line)
		wantNoSecret(t, "rota "+line, out+errs)
		if code != exitDone && !strings.HasPrefix(line, "server") {
			t.Errorf("rota %s: %d %s", line, code, errs)
		}
	}
	s.wantNoSecretInRefusedStatements(t)
	s.sendWithoutTLS()
	s.stop()
	wantNoSecret(t, "the log of the server", s.errs.String())
	if out, errs, code := s.runWith("restore "+backup+" --data "+restored, terminal{}, map[string]string{"ROTA_DATA": restored}); code != exitDone {
		t.Errorf("%d %s%s", code, out, errs)
	}
	wantNoSecretInFiles(t, s.data, filepath.Dir(backup), restored)
	for _, level := range []string{"level=DEBUG", "level=INFO"} { // wantNoSecret above has searched them
		if !strings.Contains(s.errs.String(), level) {
			t.Errorf("the server has logged nothing with %s:\n%s", level, s.errs)
		}
	}
}

func quoteJSON(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// refusedSecret is the value of refused statements.
const refusedSecret = "hush4711"

// refusedStatements set a secret with errors.
func refusedStatements() []string {
	return []string{
		"ALTER JOB backup SET SECRET 'K' = '" + refusedSecret + "' x", "ALTER JOB backup SET SECRET 'K' = \"" + refusedSecret + "\"",
		"ALTER JOB backup SET SECRET 'K' " + refusedSecret, "ALTER JOB none SET SECRET 'K' = '" + refusedSecret + "'",
		"ALTER JOB backup SET SECRETx 'K' = '" + refusedSecret + "'", "ALTER JOB backup SET SECRT 'K' = '" + refusedSecret + "'",
		"ALTER JOB backup SET DISABLED, SECRET 'K' = 'x'" + refusedSecret + "'",
	}
}

// wantNoSecretInRefusedStatements sends SET SECRET with errors, by rota sql and by psql.
func (s *testServer) wantNoSecretInRefusedStatements(t *testing.T) {
	files := map[string]string{}
	for i, statement := range refusedStatements() {
		files[statement] = filepath.Join(t.TempDir(), fmt.Sprintf("secret%d.sql", i))
		if err := os.WriteFile(files[statement], []byte(statement+";\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("rota sql", func(t *testing.T) {
		for statement, file := range files {
			out, errs, code := s.run("sql -f " + file)
			if code == exitDone || strings.Contains(out+errs+s.errs.String(), refusedSecret) {
				t.Errorf("%s: %d %s%s", statement, code, out, errs)
			}
		}
	})
	t.Run("psql", func(t *testing.T) {
		psql, err := exec.LookPath("psql")
		if err != nil {
			t.Skip("skipped: psql is not installed")
		}
		admin, err := os.ReadFile(filepath.Join(s.data, "admin.token"))
		if err != nil {
			t.Fatal(err)
		}
		addresses, err := os.ReadFile(filepath.Join(s.data, "rota.addr"))
		if err != nil {
			t.Fatal(err)
		}
		port := regexp.MustCompile(`sql[^\n]*127\.0\.0\.1:(\d+)`).FindStringSubmatch(string(addresses))
		if port == nil {
			t.Fatalf("no SQL port in %s", addresses)
		}
		for _, file := range files {
			client := exec.Command(psql, "-X", "-h", "127.0.0.1", "-p", port[1], "-U", "admin", "-d", "rota", "-f", file)
			client.Env = []string{"PGPASSWORD=" + strings.TrimSpace(string(admin)), "PATH=" + os.Getenv("PATH")}
			if shown, _ := client.CombinedOutput(); !strings.Contains(string(shown), "ERROR:") || strings.Contains(string(shown), refusedSecret) {
				t.Errorf("psql: %s", shown)
			}
		}
	})
}

// sendWithoutTLS sends a secret to the port that needs TLS, which the server logs with the level debug.
func (s *testServer) sendWithoutTLS() {
	s.t.Helper()
	request, err := http.NewRequest(http.MethodPut, "http://"+readAddressFile(s.data).HTTP+"/api/v1/secrets/backup/DB_PASSWORD", strings.NewReader(`{"value": "`+programSecret+`"}`))
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if wantNoSecret(s.t, "the answer to a request without TLS", string(text)); answer.StatusCode != http.StatusBadRequest {
		s.t.Errorf("%d %s", answer.StatusCode, text)
	}
}
