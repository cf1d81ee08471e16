package node

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

// dial opens a connection to a node, with a deadline.
func (l *testNode) dial() net.Conn {
	l.t.Helper()
	conn, err := net.Dial("tcp", l.Addresses()["http"])
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(waitMax))
	return conn
}

// readUntilClosed reads until the server closes the connection.
func readUntilClosed(conn io.Reader) (text string, ok bool) {
	all, err := io.ReadAll(conn)
	return string(all), !errors.Is(err, os.ErrDeadlineExceeded)
}

// TestSlowClientIsDisconnected sends requests that never end to a server with short
// time limits. A client that follows events stays connected.
func TestSlowClientIsDisconnected(t *testing.T) {
	n := startWith(t, Config{Data: t.TempDir()}, func(n *Node) {
		if n.server.ReadTimeout != readMax || n.server.WriteTimeout != writeMax {
			t.Errorf("the read timeout is %v, the write timeout %v", n.server.ReadTimeout, n.server.WriteTimeout)
		}
		n.server.ReadTimeout, n.server.WriteTimeout, n.server.ReadHeaderTimeout = 500*time.Millisecond, time.Second, 1200*time.Millisecond
	})
	stream := n.open("GET", "/api/v1/events", "")
	defer stream.Body.Close()
	slow := n.dial()
	if _, err := io.WriteString(slow, "POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+n.token+
		"\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	if text, ok := readUntilClosed(slow); !ok || strings.Contains(text, " 201 ") {
		t.Fatalf("the server still waits for the rest of a body; it answered %q", text)
	}
	mute := n.dial() // when this one is hung up on, the patience with answers is over, too
	if _, err := io.WriteString(mute, "GET /api/v1/jobs HTTP/1.1\r\nHost: x\r\nX-Half"); err != nil {
		t.Fatal(err)
	}
	if _, ok := readUntilClosed(mute); !ok {
		t.Fatal("the server still waits for the rest of a header")
	}
	if _, err := rota.Do[*rota.Enqueued](t.Context(), n.store, &rota.Enqueue{ // past the server, which may be too busy to answer in time
		Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{{Type: "noop"}},
	}); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "job.completed") {
	}
	if lines.Err() != nil {
		t.Errorf("the server closed the event stream: %v", lines.Err())
	}
}

// TestStopEndsLogStream: the client can tell a stream cut by a stop from a log that ended with its run.
func TestStopEndsLogStream(t *testing.T) {
	n := start(t, Config{Data: t.TempDir()})
	id := n.enqueue(`{"type": "noop", "delay": "1h"}`)
	log := n.open("GET", "/api/v1/jobs/"+id.String()+"/log?follow=true", "")
	defer log.Body.Close()
	n.stopCleanly()
	if text, err := io.ReadAll(log.Body); err == nil {
		t.Errorf("the log stream of a run that has not started ends normally after %q", text)
	}
}

// TestBackupFilesHaveScratchPrefix: the API names the temporary files of backups with
// the prefix by which the node recognizes and removes them after a crash.
func TestBackupFilesHaveScratchPrefix(t *testing.T) {
	n := start(t, Config{Data: t.TempDir()})
	var under string
	api, err := httpapi.New(httpapi.Config{
		Store: n.store, Events: n.events, Token: n.token, ScratchDir: n.scratch,
		Backup: func(_ context.Context, path string, _ func(done, total int64)) error {
			under, _ = filepath.Rel(n.scratch, path)
			return errors.New("enough")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodGet, "/api/v1/backup", nil)
	request.Header.Set("Authorization", "Bearer "+n.token)
	api.ServeHTTP(httptest.NewRecorder(), request)
	if !strings.HasPrefix(under, backupPrefix) {
		t.Errorf("a backup writes to %q, which does not start with %q", under, backupPrefix)
	}
	n.stopCleanly()
}

// TestNodeServesBeforeAddressFileExists makes writing the address file fail, and checks
// that the node accepted requests before.
func TestNodeServesBeforeAddressFileExists(t *testing.T) {
	n, err := Open(t.Context(), Config{Data: t.TempDir(), HTTP: "127.0.0.1:0", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(n.path(addrName), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := n.Run(t.Context()); err == nil || !strings.Contains(err.Error(), addrName) {
		t.Fatalf("the node ran without an address file: %v", err)
	}
	select {
	case <-n.serving:
	default:
		t.Error("the node writes the address file before it accepts requests")
	}
	select {
	case <-n.ready:
		t.Error("the node is ready without an address file")
	default:
	}
}
