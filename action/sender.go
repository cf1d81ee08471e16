package action

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// The bounds of one sending.
const (
	SendHeadMax = 10 * time.Second // from connecting to the head of the answer
	SendMax     = 30 * time.Second // all of it
	replyMax    = 64 << 10         // bytes of an answer that are read
	replyKept   = 1 << 10          // and that are kept
)

// Message is what a webhook is told, once.
type Message struct {
	URL    string
	Secret string
	Event  string
	ID     string // the same whenever it is sent again
	Body   []byte
}

// Receipt is what came of a sending that was answered.
type Receipt struct {
	Status     int    `json:"status"`
	DurationMS int64  `json:"duration_ms"`
	Body       string `json:"body,omitempty"` // how an answer begins that is no success
}

// Delivered reports whether the receiver took it.
func (r *Receipt) Delivered() bool { return r.Status >= 200 && r.Status <= 299 }

// Sender tells webhooks what happened. It is safe for concurrent use.
type Sender struct {
	config  SenderConfig
	client  *http.Client
	headMax time.Duration
	max     time.Duration
}

// SenderConfig of a Sender. The zero value works.
type SenderConfig struct {
	Guard   *Guard           // what may be reached; nil: the open internet
	Version string           // of the server, which User-Agent tells
	Clock   func() time.Time // that signatures are made by; nil: time.Now
	HeadMax time.Duration    // 0: SendHeadMax
	Max     time.Duration    // 0: SendMax
}

// NewSender makes a Sender.
func NewSender(config SenderConfig) *Sender {
	common := Config{Guard: config.Guard, Version: config.Version, Clock: config.Clock}.withDefaults()
	config.Guard, config.Version, config.Clock = common.Guard, common.Version, common.Clock
	s := &Sender{config: config, headMax: config.HeadMax, max: config.Max}
	if s.headMax <= 0 {
		s.headMax = SendHeadMax
	}
	if s.max <= 0 {
		s.max = SendMax
	}
	s.client = &http.Client{
		Transport: config.Guard.transport(),
		// Who answers with another address was not the one that the secret is shared with.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// Send signs a message as of now and sends it. An error means that no answer came:
// what an answer means is left to the caller.
func (s *Sender) Send(ctx context.Context, m Message) (*Receipt, error) {
	u, err := url.Parse(m.URL)
	if err != nil || !isScheme(u.Scheme) || u.Hostname() == "" || u.User != nil {
		return nil, failedForGood(codeParams, "the address of the webhook is none that can be told anything")
	}
	ctx, stop := context.WithTimeoutCause(ctx, s.max, late(s.max))
	defer stop()
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	head := time.AfterFunc(s.headMax, func() { cut(late(s.headMax)) })
	defer head.Stop()

	begun := time.Now()
	res, err := s.client.Do(s.request(ctx, m))
	head.Stop()
	if err != nil {
		return nil, unsent(ctx, u.Host, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, replyMax))
	receipt := &Receipt{Status: res.StatusCode, DurationMS: time.Since(begun).Milliseconds()}
	if receipt.Delivered() {
		return receipt, nil // its head says so, whatever became of its body
	}
	if err != nil {
		return nil, unsent(ctx, u.Host, err)
	}
	receipt.Body = plainText(text[:min(len(text), replyKept)])
	return receipt, nil
}

func late(after time.Duration) error { return fmt.Errorf("%w: more than %v", errLate, after) }

func (s *Sender) request(ctx context.Context, m Message) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		panic("action: an address that was parsed makes no request: " + err.Error())
	}
	h := r.Header
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "rota/"+s.config.Version)
	h.Set(HeaderEvent, m.Event)
	h.Set(HeaderDelivery, m.ID)
	h.Set(HeaderSignature, Sign(m.Secret, s.config.Clock(), m.Body))
	return r
}
