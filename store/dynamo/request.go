package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/rotajobs/rota"
)

// Bounds of requests. A request that fails for a while is Unavailable, so that the caller decides.
const (
	attemptTimeout = 5 * time.Second
	requestTimeout = 10 * time.Second
	backoffFirst   = 25 * time.Millisecond
	backoffMax     = time.Second
	requestAgeMax  = 30 * time.Second // of a request that takes a slot: an older one may come from a sleeper
)

// outcome is what became of a request.
type outcome int

const (
	done    outcome = iota // it was answered
	refused                // it was refused for good
	notNow                 // it changed nothing, and may succeed later
	unknown                // it may have been executed
)

// retriable are the errors of requests that changed nothing and may succeed later.
var retriable = map[string]bool{
	"ProvisionedThroughputExceededException": true, "ThrottlingException": true, "RequestLimitExceeded": true,
	"TransactionConflictException": true, "LimitExceededException": true, "ThrottledException": true,
	"RequestTimeTooSkewed": true, "InvalidSignatureException": true, "RequestExpired": true,
}

// outcomeOf classifies the error of a request.
func outcomeOf(err error) outcome {
	if err == nil {
		return done
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return outcomeOfReasons(cancelled.CancellationReasons)
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		code := api.ErrorCode()
		switch {
		case retriable[code]:
			return notNow
		case code == "InternalServerError" || code == "TransactionInProgressException" || api.ErrorFault() == smithy.FaultServer:
			return unknown
		}
		var response interface{ HTTPStatusCode() int }
		if errors.As(err, &response) && response.HTTPStatusCode() >= 500 {
			return unknown
		}
		return refused
	}
	if errors.Is(err, errOldRequest) {
		return refused
	}
	return unknown
}

// outcomeOfReasons classifies a transaction that was cancelled. It changed nothing.
func outcomeOfReasons(reasons []types.CancellationReason) outcome {
	for _, r := range reasons {
		switch code := text(r.Code); code {
		case "", "None":
		case "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError":
			return notNow
		default:
			return refused
		}
	}
	return notNow
}

// call sends a request that can be sent again, until it is answered.
func (t *table) call(ctx context.Context, act string, send func(context.Context) error) error {
	deadline := time.Now().Add(requestTimeout)
	for attempt := 0; ; attempt++ {
		err := t.attempt(ctx, send)
		switch outcomeOf(err) {
		case done:
			return nil
		case refused:
			return t.fault(act, err)
		}
		if err := t.backOff(ctx, deadline, attempt, act, err); err != nil {
			return err
		}
	}
}

// attempt sends a request once.
func (t *table) attempt(ctx context.Context, send func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return send(ctx)
}

// backOff waits before the next attempt. It returns an error if there is none.
func (t *table) backOff(ctx context.Context, deadline time.Time, attempt int, act string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	wait := rand.N(min(backoffMax, backoffFirst<<min(attempt, 10))) + time.Millisecond
	if time.Now().Add(wait).After(deadline) {
		return t.fault(act, err)
	}
	return sleep(ctx, wait)
}

// fault returns the error of a request for callers of the store.
func (t *table) fault(act string, err error) error {
	act = "dynamodb: " + act
	var api smithy.APIError
	if known := (*rota.Error)(nil); errors.As(err, &known) {
		return known
	}
	if !errors.As(err, &api) {
		return &rota.Error{Code: rota.Unavailable, Act: act, Reason: fmt.Sprintf("the table %s cannot be reached", t.name), Err: err, Hint: "check the region, the endpoint and the network"}
	}
	switch api.ErrorCode() {
	case "AccessDeniedException", "UnrecognizedClientException", "MissingAuthenticationTokenException", "ExpiredTokenException",
		"InvalidSignatureException", "RequestTimeTooSkewed", "RequestExpired":
		return &rota.Error{
			Code: rota.Unavailable, Act: act, Reason: "AWS refuses the request: " + api.ErrorMessage(),
			Hint: "give the credentials of this process the right that is named; docs/dynamodb.md has the policy",
		}
	case "ResourceNotFoundException":
		return &rota.Error{Code: rota.Unavailable, Act: act, Reason: fmt.Sprintf("the table %s does not exist", t.name), Hint: "start a process with the right dynamodb:CreateTable, or create it as docs/dynamodb.md describes"}
	}
	switch outcomeOf(err) {
	case notNow:
		return &rota.Error{Code: rota.Unavailable, Act: act, Reason: "DynamoDB limits the requests of the table " + t.name, Err: err, Hint: "give the table more capacity, or use it on demand"}
	case unknown:
		return &rota.Error{Code: rota.Unavailable, Act: act, Reason: "DynamoDB failed", Err: err, Hint: "try again"}
	}
	return &rota.Error{
		Code: rota.Internal, Act: act, Reason: fmt.Sprintf("the answer to a request of the table %s is none that Rota expects", t.name), Err: err,
		Hint: "check that the endpoint is that of DynamoDB; if it is, please report this",
	}
}

// errOldRequest is the error of a request that was not sent in time.
var errOldRequest = errors.New("the request is too old to be sent")

// transport sends requests, and tells the clock the dates of the answers.
type transport struct {
	client *http.Client
	clock  *serviceClock
}

type bornKey struct{}

// birth is when a request was decided, and how old it may be when it is sent.
type birth struct {
	at     time.Time
	ageMax time.Duration
}

// bornWithin marks requests that must not be sent much later than now. A process may sleep at any place.
func bornWithin(ctx context.Context, ageMax time.Duration) context.Context {
	return context.WithValue(ctx, bornKey{}, birth{time.Now(), ageMax})
}

// Do sends a request that is signed already. If the process sleeps after the check, the signature has
// expired when it wakes up.
func (t *transport) Do(request *http.Request) (*http.Response, error) {
	if b, is := request.Context().Value(bornKey{}).(birth); is && passed(b.at) > b.ageMax {
		return nil, errOldRequest
	}
	sent := time.Now()
	response, err := t.client.Do(request)
	if err == nil {
		t.clock.answered(sent, time.Now(), response.Header.Get("Date"))
	}
	return response, err
}

// passed returns how much time has passed by the monotonic clock or by the wall clock, whichever says more.
// The monotonic clock may stand still while a machine sleeps.
func passed(since time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)).Abs())
}
