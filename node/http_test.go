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

// dial opens a connection to a node, on which nothing may take for ever.
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

// readUntilClosed reads until the server hangs up.
func readUntilClosed(conn io.Reader) (text string, ok bool) {
	all, err := io.ReadAll(conn)
	return string(all), !errors.Is(err, os.ErrDeadlineExceeded)
}

// TestSlowClientIsDisconnected has one that never ends its body and one
// that follows the events, on a server with little patience.
func TestSlowClientIsDisconnected(t *testing.T) {
	n := startWith(t, Config{Data: t.TempDir()}, func(n *Node) {
		if n.server.ReadTimeout != readMax || n.server.WriteTimeout != writeMax {
			t.Errorf("the server waits %v for a request, and %v for an answer", n.server.ReadTimeout, n.server.WriteTimeout)
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
		t.Fatalf("the server still waits for the rest of a body; it said %q", text)
	}
	mute := n.dial() // when this one is hung up on, the patience with answers is over, too
	if _, err := io.WriteString(mute, "GET /api/v1/jobs HTTP/1.1\r\nHost: x\r\nX-Half"); err != nil {
		t.Fatal(err)
	}
	if _, ok := readUntilClosed(mute); !ok {
		t.Fatal("the server still waits for the rest of a head")
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
		t.Errorf("who follows the events was hung up on: %v", lines.Err())
	}
}

// TestStopEndsLogStream and does not look like one that has ended with its run.
func TestStopEndsLogStream(t *testing.T) {
	n := start(t, Config{Data: t.TempDir()})
	id := n.enqueue(`{"type": "noop", "delay": "1h"}`)
	log := n.open("GET", "/api/v1/jobs/"+id.String()+"/log?follow=true", "")
	defer log.Body.Close()
	n.stopCleanly()
	if text, err := io.ReadAll(log.Body); err == nil {
		t.Errorf("who follows the log of a run that has not begun reads %q, and that this is the end", text)
	}
}

// TestLeftoverOfBackupIsRemoved: the API names the files, and the node
// removes those which a crash left.
func TestLeftoverOfBackupIsRemoved(t *testing.T) {
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
		t.Errorf("a backup is made in %q, which begins otherwise than %q", under, backupPrefix)
	}
	n.stopCleanly()
}

// TestNodeServesBeforeAddressFileExists keeps the address from being written: by then
// requests are let in already.
func TestNodeServesBeforeAddressFileExists(t *testing.T) {
	n, err := Open(t.Context(), Config{Data: t.TempDir(), HTTP: "127.0.0.1:0", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(n.path(addrName), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := n.Run(t.Context()); err == nil || !strings.Contains(err.Error(), addrName) {
		t.Fatalf("it ran without an address: %v", err)
	}
	select {
	case <-n.serving:
	default:
		t.Error("it would have said where it is before it answers")
	}
	select {
	case <-n.ready:
		t.Error("it says that it is ready, and nobody can find it")
	default:
	}
}
