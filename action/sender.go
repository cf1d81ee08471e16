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
	SendHeadMax = 10 * time.Second       // from connecting to the head of the answer
	replyFor    = 250 * time.Millisecond // what follows the head
	replyMax    = 64 << 10               // bytes of it that are read
	replyKept   = 1 << 10                // and that are kept
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
}

// SenderConfig of a Sender. The zero value works.
type SenderConfig struct {
	Guard   *Guard           // what may be reached; nil: the open internet
	Version string           // of the server, which User-Agent tells
	Clock   func() time.Time // that signatures are made by; nil: time.Now
	HeadMax time.Duration    // 0: SendHeadMax
}

// NewSender makes a Sender.
func NewSender(config SenderConfig) *Sender {
	common := Config{Guard: config.Guard, Version: config.Version, Clock: config.Clock}.withDefaults()
	config.Guard, config.Version, config.Clock = common.Guard, common.Version, common.Clock
	s := &Sender{config: config, headMax: config.HeadMax}
	if s.headMax <= 0 {
		s.headMax = SendHeadMax
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
		return nil, permanentFailure(codeParams, "the address of the webhook is none that can be told anything")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.headMax, func() { cancel(fmt.Errorf("%w: more than %v", errAnswerTimeout, s.headMax)) })
	defer timer.Stop()

	begun := time.Now()
	res, err := s.client.Do(s.request(ctx, m))
	if err != nil {
		return nil, requestError(ctx, u.Host, err)
	}
	defer res.Body.Close()
	receipt := &Receipt{Status: res.StatusCode, DurationMS: time.Since(begun).Milliseconds()}
	// The head has decided. What follows is read so that the connection can be used
	// again and for what it says of a failure, as far as it comes at once.
	timer.Reset(replyFor)
	text, _ := io.ReadAll(io.LimitReader(res.Body, replyMax))
	if !receipt.Delivered() {
		receipt.Body = validText(text[:min(len(text), replyKept)])
	}
	return receipt, nil
}

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
