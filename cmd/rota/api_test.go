package main

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rotajobs/rota/api"
)

// TestServerAddressPrecedence: a flag overrides the environment, which overrides the files in the data directory.
func TestServerAddressPrecedence(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"ROTA_DATA": dir}
	a := &app{environment: environment{getenv: func(name string) string { return env[name] }}}
	expect := func(what, address, token, source string) {
		t.Helper()
		gotAddress, err := a.address()
		gotToken, gotSource := a.authToken()
		if err != nil || gotAddress != address || gotToken != token || gotSource != source {
			t.Errorf("%s: got %s %s from %s, %v; want %s %s from %s", what, gotAddress, gotToken, gotSource, err, address, token, source)
		}
	}
	file := filepath.Join(dir, "admin.token")
	refused := func(what, want string) {
		t.Helper()
		if address, err := a.address(); exitCode(err) != exitUnavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %s, %v; want an error with %q", what, address, err, want)
		}
	}
	refused("a directory without a server", "no server runs in "+dir)
	write("rota.addr", "not JSON")
	refused("an invalid file", "no server runs in "+dir)
	env["ROTA_DATA"] = filepath.Join(dir, "none")
	refused("no directory", "there is no directory "+env["ROTA_DATA"])
	env["ROTA_DATA"] = dir
	a.server.data = filepath.Join(dir, "flag")
	refused("the flag", "there is no directory "+a.server.data)
	a.server.data = ""
	write("rota.addr", `{"http": "0.0.0.0:4711", "sql": "127.0.0.1:1"}`)
	write("admin.token", "from-file\n")
	expect("the data directory", "http://127.0.0.1:4711", "from-file", file)
	env["ROTA_URL"], env["ROTA_TOKEN"] = "https://rota.example.com/base/", "from-env"
	expect("the environment", "https://rota.example.com/base", "from-env", "ROTA_TOKEN")
	a.server = server{url: "localhost:99", token: "from-flag"}
	expect("the flags", "http://localhost:99", "from-flag", "--token")
	for _, bad := range []string{"ftp://host", "http://", "http://bad host"} {
		a.server.url = bad
		if _, err := a.address(); exitCode(err) != exitUsage {
			t.Errorf("the address %q gives %v", bad, err)
		}
	}
}

// TestDataDirFromConfigurationFile: the file in the working directory sets the data directory, unless ROTA_DATA does.
func TestDataDirFromConfigurationFile(t *testing.T) {
	t.Chdir(t.TempDir())
	env := map[string]string{}
	expect := func(file, want string) {
		t.Helper()
		if err := os.WriteFile("rota.yaml", []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		a := &app{environment: environment{getenv: func(name string) string { return env[name] }}}
		if got := a.dataDir(); got != want {
			t.Errorf("with %q the data is in %s, want %s", file, got, want)
		}
	}
	expect("workers: 4\n", defaultData)
	expect("data: elsewhere\nworkers: 4\n", "elsewhere")
	expect("data: elsewhere\nworkers: many\n", defaultData) // no server starts with this file
	env["ROTA_DATA"] = "from-env"
	expect("data: elsewhere\n", "from-env")
}

// TestUnreachableOrForeignServerExitsUnavailable: the error says that no server listens, or that another program does.
func TestUnreachableOrForeignServerExitsUnavailable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closedAddress := listener.Addr().String()
	listener.Close()
	notRota := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>hello") }))
	defer notRota.Close()
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	moved := httptest.NewServer(http.RedirectHandler("http://elsewhere.example.com", http.StatusFound))
	defer moved.Close()
	for address, want := range map[string]string{
		"http://" + closedAddress: "hint: start a server with rota serve",
		notRota.URL:               "its answer is not JSON",
		missing.URL:               "it answered 404 Not Found",
		moved.URL:                 "it answered 302 Found",
	} {
		_, errs, code := runLine("stats --url " + address)
		if code != exitUnavailable || !strings.Contains(errs, want) {
			t.Errorf("%s exits with %d: %s", address, code, errs)
		}
	}
}

// TestLostAnswerHintDependsOnWhetherRequestWasSent: only a write that was sent may have been applied.
func TestLostAnswerHintDependsOnWhetherRequestWasSent(t *testing.T) {
	a := &app{environment: environment{getenv: func(string) string { return "" }}, server: server{url: "http://missing.example"}}
	unknown := &url.Error{Op: "Post", URL: "http://missing.example", Err: &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Server: "10.0.0.1"}}}
	broken := &url.Error{Op: "Post", URL: "http://missing.example", Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}
	for _, row := range []struct {
		err   error
		wrote bool
		doubt bool
	}{{unknown, true, false}, {unknown, false, false}, {broken, true, true}, {broken, false, false}} {
		var b strings.Builder
		report(&b, a.connectionError(row.err, row.wrote))
		if doubt := strings.Contains(b.String(), "may have been applied"); doubt != row.doubt || strings.Contains(b.String(), "10.0.0.1") {
			t.Errorf("%v, wrote %v: %s", row.err, row.wrote, b.String())
		}
	}
}

// TestProblemCodesMapToExitCodes covers the codes and statuses that a server answers with.
func TestProblemCodesMapToExitCodes(t *testing.T) {
	for _, row := range []struct {
		status int
		code   string
		want   int
	}{
		{400, "invalid", exitUsage},
		{422, "invalid", exitUsage},
		{401, "denied", exitDenied},
		{403, "denied", exitDenied},
		{404, "not_found", exitNotFound},
		{405, "method_not_allowed", exitFailed},
		{409, "conflict", exitFailed},
		{409, "busy", exitUnavailable},
		{409, "lease_lost", exitFailed},
		{413, "too_large", exitUsage},
		{429, "too_many_requests", exitUnavailable},
		{500, "internal", exitFailed},
		{503, "unavailable", exitUnavailable},
		{503, "", exitUnavailable},
		{418, "teapot", exitFailed},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(row.status)
			json.NewEncoder(w).Encode(api.Problem{Title: "No", Status: row.status, Code: row.code, Detail: "the value is wrong", Hint: "fix it"})
		}))
		_, errs, code := runLine("stats --token x --url " + server.URL)
		server.Close()
		if code != row.want || !strings.HasPrefix(errs, "rota: the value is wrong\nhint: ") {
			t.Errorf("%d %s exits with %d, want %d: %s", row.status, row.code, code, row.want, errs)
		}
	}
}

// TestProblemTextNamesEachFieldOnce checks also that control characters are removed.
func TestProblemTextNamesEachFieldOnce(t *testing.T) {
	for _, row := range []struct {
		problem api.Problem
		want    string
	}{
		{api.Problem{Title: "No"}, "No"},
		{api.Problem{Title: "No", Detail: "type: is empty", Errors: []api.FieldError{{Field: "type", Reason: "is empty"}}}, "type: is empty"},
		{api.Problem{Detail: "two are wrong", Errors: []api.FieldError{{Field: "a", Reason: "is not even"}, {Field: "b", Reason: "is \x1b[31mred"}}}, "two are wrong\n  a: is not even\n  b: is ?[31mred"},
	} {
		if got := problemText(&row.problem); got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
}

// TestWriteWithLostAnswerIsAppliedOnce: the client sends the request again and the server creates one job.
func TestWriteWithLostAnswerIsAppliedOnce(t *testing.T) {
	s := startServer(t)
	address := readAddressFile(s.data)
	target, err := url.Parse(address.url())
	if err != nil {
		t.Fatal(err)
	}
	var posts atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.Method == http.MethodPost && posts.Add(1) == 1 {
			return errors.New("lost")
		}
		return nil
	}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { panic(http.ErrAbortHandler) }
	front := httptest.NewUnstartedServer(proxy)
	front.Config.ErrorLog = nil
	front.Start()
	defer front.Close()
	s.must("type pause noop")
	out, errs, code := s.run("job create noop --url " + front.URL)
	if code != exitDone || !strings.Contains(out, "queued") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if n := strings.Count(s.must("job list --type noop"), "queued"); n != 1 || posts.Load() != 2 {
		t.Errorf("%d jobs were created by %d requests", n, posts.Load())
	}
}

// TestListReadsAllPages: --limit 0 lists more than one page.
func TestListReadsAllPages(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	var jobs strings.Builder
	for range 1500 {
		jobs.WriteString("- {type: noop}\n")
	}
	file := filepath.Join(t.TempDir(), "group.yaml")
	if err := os.WriteFile(file, []byte("mode: parallel\njobs:\n"+jobs.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.must("group create --file " + file)
	for limit, want := range map[string]int{"0": 1500, "1200": 1200, "1": 1, "1000": 1000} {
		var list struct {
			Items []json.RawMessage `json:"items"`
			Next  *string           `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(s.must("job list -o json --limit "+limit)), &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != want || (list.Next == nil) != (want == 1500) {
			t.Errorf("--limit %s lists %d, next %v", limit, len(list.Items), list.Next)
		}
	}
	out, errs, _ := s.run("queue list --limit 3")
	_, cursor, found := strings.Cut(errs, "--cursor ")
	cursor, _, _ = strings.Cut(cursor, ",")
	if next := s.must("queue list --limit 3 --cursor " + cursor); !found || next == out || strings.Count(next, "noop") != 3 {
		t.Errorf("the second page is\n%s after\n%s%s", next, out, errs)
	}
}
