package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/httpapi"
)

// smallBuffers is a listener whose connections have small socket buffers, so that a client that does not read soon blocks
// the server.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		_ = conn.(*net.TCPConn).SetWriteBuffer(4 << 10)
	}
	return conn, err
}

// readerBytesMax is the heap that a reader of events may use while it does not read.
const readerBytesMax = 256 << 10

// TestEventReadersThatDoNotReadCostBoundedMemory opens 600 streams, reads one line of each, and then publishes events.
func TestEventReadersThatDoNotReadCostBoundedMemory(t *testing.T) {
	ring := make(chan *eventring.Ring, 1)
	s := newServer(t, func(c *httpapi.Config) {
		c.Events = eventring.New(c.Store, 0)
		ring <- c.Events
	})
	events := <-ring
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: s.handler}
	served := make(chan error, 1)
	go func() { served <- web.Serve(smallBuffers{listener}) }()
	t.Cleanup(func() {
		_ = web.Close()
		<-served
	})
	before := heapBytes()
	open, refused := 0, ""
	for range 600 {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		_ = conn.SetReadDeadline(time.Now().Add(testTimeout))
		_, _ = io.WriteString(conn, "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+token+"\r\n\r\n")
		in := bufio.NewReaderSize(conn, 16)
		line, err := in.ReadString('\n')
		switch {
		case err != nil:
			t.Fatal(err)
		case strings.HasPrefix(line, "HTTP/1.1 200"):
			open++
		case strings.HasPrefix(line, "HTTP/1.1 503") && refused == "":
			buf := make([]byte, 4096)
			n, _ := io.ReadAtLeast(in, buf, 200)
			refused = string(buf[:n])
			_ = conn.Close()
		default:
			_ = conn.Close()
		}
	}
	if open != 256 || !strings.Contains(refused, "as many streams of events and logs as it allows") {
		t.Errorf("%d streams are open; the first refused one reads %q", open, refused)
	}
	failure := strings.Repeat("x", rota.EventErrorMax)
	for range 2 * eventring.PageMax {
		events.Publish(rota.Event{Kind: rota.EventJobFailed, Type: "mail", Error: failure, At: time.Now()})
	}
	most := uint64(0)
	for range 20 {
		most = max(most, heapBytes())
		time.Sleep(20 * time.Millisecond) // the readers wake up one after the other
	}
	if used := int64(most-before) / int64(open); used > readerBytesMax {
		t.Errorf("each reader uses %d KiB, want at most %d", used>>10, readerBytesMax>>10)
	} else {
		t.Logf("each reader uses %d KiB", used>>10)
	}
}

// heapBytes is the memory of live objects and stacks.
func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
