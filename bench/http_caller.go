package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strconv"
	"time"
)

// caller sends the same request repeatedly over one connection. It does as little work as possible, because it shares
// the processors with the server.
type caller struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
	times   []time.Duration
}

// httpRequest is a request of the API. Without a body it is a GET.
type httpRequest struct{ path, token, body string }

func newCaller(conn net.Conn, s *server, r httpRequest) *caller {
	method, content := "GET", ""
	if r.body != "" {
		method, content = "POST", fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(r.body))
	}
	request := fmt.Sprintf("%s /api/v1%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n%s", method, r.path, s.addr, r.token, content, r.body)
	return &caller{conn: conn, in: bufio.NewReader(conn), request: []byte(request)}
}

// call sends a request and reads its answer to the end.
func (c *caller) call() error {
	begun := time.Now()
	if err := c.conn.SetDeadline(begun.Add(serverTimeout)); err != nil {
		return err
	}
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	if err := c.read(); err != nil {
		return err
	}
	c.times = append(c.times, time.Since(begun))
	return nil
}

func (c *caller) read() error {
	status, err := c.in.ReadString('\n')
	if err != nil {
		return err
	}
	length, err := c.readHeader()
	if err != nil {
		return err
	}
	if !bytes.HasPrefix([]byte(status), []byte("HTTP/1.1 20")) {
		body, _ := c.in.Peek(min(max(length, 0), c.in.Buffered()))
		return fmt.Errorf("%q: %s", status, body)
	}
	if length < 0 {
		return c.discardChunks()
	}
	_, err = c.in.Discard(length)
	return err
}

// readHeader reads the header and returns the length of the body, or -1 if the body is chunked.
func (c *caller) readHeader() (length int, err error) {
	length = -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil || len(bytes.TrimSpace(line)) == 0 {
			return length, err
		}
		if value, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
}

func (c *caller) discardChunks() error {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if _, err := c.in.Discard(int(size) + len("\r\n")); err != nil || size == 0 {
			return err
		}
	}
}
