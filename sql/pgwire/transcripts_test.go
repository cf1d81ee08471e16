package pgwire

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

var update = flag.Bool("update", false, "write the answers into the transcripts")

// Each transcript file is one connection: lines with > are messages of the client, lines with <
// are the answers. The line "store" is what the statements wrote.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runTranscript(t, file) })
	}
}

func runTranscript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t)
	c := s.client()
	var got []string
	var asked []pgproto3.FrontendMessage
	answer := func() {
		if asked == nil {
			return
		}
		lines := c.exchange(asked...)
		if _, is := asked[len(asked)-1].(*pgproto3.Flush); is {
			lines = append(lines, c.receiveFor(200*time.Millisecond)...)
		}
		for _, line := range lines {
			got = append(got, "< "+line)
		}
		asked = nil
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "<"), strings.HasPrefix(line, "store"):
			continue
		case strings.HasPrefix(line, ">"):
			asked = append(asked, parseMessage(t, line[2:]))
		default:
			answer()
		}
		got = append(got, line)
	}
	answer()
	got = append(got, "store: "+s.store.String(), "")
	result := strings.Join(got, "\n")
	if *update {
		if err := os.WriteFile(file, []byte(result), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if result != string(text) {
		t.Errorf("%s\n--- got\n%s--- want\n%s", file, result, text)
	}
}

// receiveFor returns what comes within a time.
func (c *client) receiveFor(d time.Duration) (lines []string) {
	_ = c.wire.SetReadDeadline(time.Now().Add(d))
	defer func() { _ = c.wire.SetReadDeadline(time.Now().Add(20 * time.Second)) }()
	for {
		m, err := c.Receive()
		if err != nil {
			return lines
		}
		lines = append(lines, formatMessage(m))
	}
}

// parseMessage reads a message from its words: names and texts in quotes, numbers, and
// for the arguments of Bind also NULL and x and hexadecimal.
func parseMessage(t *testing.T, line string) pgproto3.FrontendMessage {
	w := splitWords(t, line)
	switch w[0] {
	case "Query":
		return &pgproto3.Query{String: w[1]}
	case "Parse":
		m := &pgproto3.Parse{Name: w[1], Query: w[2]}
		for _, n := range w[3:] {
			m.ParameterOIDs = append(m.ParameterOIDs, uint32(parseNumber(t, n)))
		}
		return m
	case "Bind":
		return parseBind(t, w)
	case "Describe":
		return &pgproto3.Describe{ObjectType: w[1][0], Name: w[2]}
	case "Close":
		return &pgproto3.Close{ObjectType: w[1][0], Name: w[2]}
	case "Execute":
		return &pgproto3.Execute{Portal: w[1], MaxRows: uint32(parseNumber(t, w[2]))}
	case "Sync":
		return &pgproto3.Sync{}
	case "Flush":
		return &pgproto3.Flush{}
	case "FunctionCall":
		return &pgproto3.FunctionCall{}
	case "CopyData":
		return &pgproto3.CopyData{Data: []byte("x")}
	case "CopyDone":
		return &pgproto3.CopyDone{}
	case "Password":
		return &pgproto3.PasswordMessage{Password: "again"}
	}
	t.Fatalf("unknown message %s", line)
	return nil
}

func parseBind(t *testing.T, w []string) *pgproto3.Bind {
	m := &pgproto3.Bind{DestinationPortal: w[1], PreparedStatement: w[2]}
	for _, word := range w[3:] {
		codes, is := strings.CutPrefix(word, "in=")
		out, isOut := strings.CutPrefix(word, "out=")
		raw, isRaw := strings.CutPrefix(word, "x=")
		switch {
		case is:
			m.ParameterFormatCodes = parseFormats(t, codes)
		case isOut:
			m.ResultFormatCodes = parseFormats(t, out)
		case isRaw:
			bytes, _ := hex.DecodeString(raw)
			m.Parameters = append(m.Parameters, bytes)
		case word == "NULL":
			m.Parameters = append(m.Parameters, nil)
		default:
			m.Parameters = append(m.Parameters, []byte(word))
		}
	}
	return m
}

func parseFormats(t *testing.T, text string) (codes []int16) {
	for one := range strings.SplitSeq(text, ",") {
		codes = append(codes, int16(parseNumber(t, one)))
	}
	return codes
}

func parseNumber(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func splitWords(t *testing.T, line string) (list []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] != '"' {
			word, rest, _ := strings.Cut(line, " ")
			list, line = append(list, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			t.Fatal(line, err)
		}
		plain, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatal(line, err)
		}
		list, line = append(list, plain), line[len(quoted):]
	}
	if len(list) == 0 {
		t.Fatal(fmt.Errorf("an empty line"))
	}
	return list
}
