package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Answer is the result of a job of type http.
type Answer struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers,omitempty"` // some of them
	Body       any               `json:"body"`              // JSON if a result can hold it, else text
	Truncated  bool              `json:"truncated"`         // the body was cut
	DurationMS int64             `json:"duration_ms"`
}

// responseMax is how many bytes of an answer are read.
const responseMax = 1 << 20

// shownHeaders are the headers of an answer that the result contains.
var shownHeaders = []string{"Content-Type", "Content-Length", "Date", "ETag", "Last-Modified", "Location", "Retry-After", "X-Request-Id"}

const headerMax = 1 << 10

// readAnswer reads an answer up to its limits. It may repeat a secret of the request, which is masked before a limit cuts it.
func readAnswer(ctx context.Context, res *http.Response) (*Answer, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, responseMax+1))
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the connection ended before the answer was complete")
		}
		return nil, err
	}
	a := &Answer{Status: res.StatusCode}
	if a.Truncated = len(body) > responseMax; a.Truncated {
		body = body[:responseMax]
	}
	for _, name := range shownHeaders {
		if value := res.Header.Get(name); value != "" {
			a.addHeader(name, engine.Mask(ctx, value, false))
		}
	}
	switch {
	case len(body) == 0:
	case !a.Truncated && isJSON(res.Header.Get("Content-Type")) && rota.CheckDocument("body", body, responseMax) == nil && rota.JSONDepth(body) < rota.DepthMax:
		a.Body = json.RawMessage(body)
	default:
		a.Body = validText([]byte(engine.Mask(ctx, string(body), a.Truncated)))
	}
	return a, nil
}

func (a *Answer) addHeader(name, value string) {
	if a.Headers == nil {
		a.Headers = map[string]string{}
	}
	a.Headers[name] = validText([]byte(value[:min(len(value), headerMax)]))
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// validText is text that every store accepts: valid UTF-8 without NUL.
func validText(body []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(body), "\uFFFD"), "\x00", "\uFFFD")
}

// fit cuts the body until the answer fits into a result.
func (a *Answer) fit(ctx context.Context) *Answer {
	size := func(v any) int {
		text, err := json.Marshal(v)
		if err != nil { // cannot happen for valid JSON and texts
			return rota.ResultMax + 1
		}
		return len(text)
	}
	if size(a) <= rota.ResultMax {
		return a
	}
	cut := *a
	text, is := a.Body.(string)
	if raw, isRaw := a.Body.(json.RawMessage); isRaw {
		text, is = validText(engine.MaskJSON(ctx, raw)), true
	}
	if cut.Body, cut.Truncated = nil, true; !is {
		return &cut
	}
	for space := rota.ResultMax - size(&cut); ; {
		n := size(text)
		if n <= space {
			break
		}
		text = strings.ToValidUTF8(text[:len(text)*space/n], "")
	}
	cut.Body = text
	return &cut
}

// statusCode is the code of a status that was not expected.
func statusCode(status int) string { return "http_" + strconv.Itoa(status) }

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// retryAfterMax bounds how long a server can delay a retry.
const retryAfterMax = time.Hour

// retryAfter parses the header Retry-After. A time that is not in the future is
// ignored, and the backoff applies.
func retryAfter(header string, now time.Time) (at time.Time, ok bool) {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.ParseInt(header, 10, 64); err == nil {
		if seconds < 1 {
			return time.Time{}, false
		}
		return now.Add(time.Duration(min(seconds, int64(retryAfterMax/time.Second))) * time.Second), true
	}
	at, err := http.ParseTime(header)
	if err != nil || !at.After(now) {
		return time.Time{}, false
	}
	if last := now.Add(retryAfterMax); at.After(last) {
		at = last
	}
	return at, true
}
