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

// Limits of one request to a webhook.
const (
	SendHeadMax = 10 * time.Second       // from connecting to the head of the answer
	replyFor    = 250 * time.Millisecond // time for the body of the answer
	replyMax    = 64 << 10               // bytes of the body that are read
	replyKept   = 1 << 10                // bytes of the body that are kept
)

// Message is one delivery to a webhook.
type Message struct {
	URL    string
	Secret string
	Event  string
	ID     string // the same at each retry
	Body   []byte
}

// Receipt is the answer of a webhook.
type Receipt struct {
	Status     int    `json:"status"`
	DurationMS int64  `json:"duration_ms"`
	Body       string `json:"body,omitempty"` // first bytes of an answer that is not a success
}

// Delivered reports whether the receiver accepted it.
func (r *Receipt) Delivered() bool { return r.Status >= 200 && r.Status <= 299 }

// Sender sends deliveries to webhooks. It is safe for concurrent use.
type Sender struct {
	config  SenderConfig
	client  *http.Client
	headMax time.Duration
}

// SenderConfig of a Sender. The zero value works.
type SenderConfig struct {
	Guard   *Guard           // what may be reached; nil: the open internet
	Version string           // of the server, sent in User-Agent
	Clock   func() time.Time // clock of the signatures; nil: time.Now
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
		// A redirect leads to a receiver that does not share the secret.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// Send signs a message as of now and sends it. An error means that there is no
// answer. The caller decides what an answer means.
func (s *Sender) Send(ctx context.Context, m Message) (*Receipt, error) {
	u, err := url.Parse(m.URL)
	if err != nil || !isScheme(u.Scheme) || u.Hostname() == "" || u.User != nil {
		return nil, permanentFailure(codeParams, "the URL of the webhook is not an http or https URL without user and password; correct the webhook")
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
	// The head decides the result. The body is read for a short time, so that the
	// connection can be reused and the receipt can show the text of a failure.
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
		panic("action: a parsed URL makes no request: " + err.Error())
	}
	h := r.Header
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "rota/"+s.config.Version)
	h.Set(HeaderEvent, m.Event)
	h.Set(HeaderDelivery, m.ID)
	h.Set(HeaderSignature, Sign(m.Secret, s.config.Clock(), m.Body))
	return r
}
