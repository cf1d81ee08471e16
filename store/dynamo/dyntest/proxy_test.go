package dyntest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// orchard is a table behind a proxy.
type orchard struct {
	*Proxy
	client *dynamodb.Client
	table  string
}

func newOrchard(t *testing.T) *orchard {
	s := Shared(t, Dynalite) // which runs everywhere, and never is DynamoDB
	p := s.Proxy(t)
	return &orchard{p, p.Client(t), newTable(t, s, s.Client(t))}
}

func (o *orchard) put(ctx context.Context, sk string) error {
	_, err := o.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &o.table, Item: key("pear", sk)})
	return err
}

func (o *orchard) has(t *testing.T, sk string) bool {
	t.Helper()
	got, err := o.server.Client(t).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &o.table, Key: key("pear", sk), ConsistentRead: aws.Bool(true)})
	must(t, err)
	return len(got.Item) > 0
}

func TestFaultsReachClientAsDynamoDBWritesThem(t *testing.T) {
	o := newOrchard(t)
	for _, test := range []struct {
		fault   Fault
		code    string // of the API error; empty: none
		status  int    // 0: no answer
		retried bool   // the SDK would send the request again
		written bool
	}{
		{ThroughputExceeded, "ProvisionedThroughputExceededException", 400, true, false},
		{Throttled, "ThrottlingException", 400, true, false},
		{Conflict, "TransactionConflictException", 400, false, false},
		{InternalError, "InternalServerError", 500, true, false},
		{LateError, "InternalServerError", 500, true, true},
		{Unavailable, "", 503, true, false},
		{Denied, "AccessDeniedException", 400, false, false},
		{CutBefore, "", 0, true, false},
		{LostAnswer, "", 0, true, true},
	} {
		t.Run(test.fault.String(), func(t *testing.T) {
			o.ResetCounts()
			o.FailNext(1, test.fault, "PutItem")
			err := o.put(t.Context(), test.fault.String())
			var api smithy.APIError
			if errors.As(err, &api) != (test.code != "") || api != nil && api.ErrorCode() != test.code {
				t.Errorf("the error is %v, want the code %q", err, test.code)
			}
			var answer *smithyhttp.ResponseError
			if !errors.As(err, &answer) || answer.HTTPStatusCode() != test.status {
				t.Errorf("the error is %v, want the status %d", err, test.status)
			}
			if got := retry.NewStandard().IsErrorRetryable(err); got != test.retried {
				t.Errorf("the SDK would retry: %t, want %t: %v", got, test.retried, err)
			}
			if got := o.has(t, test.fault.String()); got != test.written {
				t.Errorf("written: %t, want %t", got, test.written)
			}
			counts := o.Counts()
			if counts.Requests["PutItem"] != 1 || counts.Faults[test.fault.String()] != 1 {
				t.Errorf("counts are %+v, want one request and one fault", counts)
			}
			if want := map[bool]float64{true: 1}[test.written]; counts.Write != want {
				t.Errorf("%v units written, want %v", counts.Write, want)
			}
			must(t, o.put(t.Context(), "next"))
		})
	}
}

func TestCancelledTransactionHasReasonForEachItem(t *testing.T) {
	o := newOrchard(t)
	o.Fail(Cancelled("None", "ConditionalCheckFailed"))
	must(t, o.put(t.Context(), "no transaction"))
	var items []types.TransactWriteItem
	for _, sk := range []string{"1", "2", "3"} {
		items = append(items, types.TransactWriteItem{Put: &types.Put{TableName: &o.table, Item: key("pear", sk)}})
	}
	_, err := o.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: items})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		t.Fatalf("the error is %v", err)
	}
	var codes []string
	for _, reason := range cancelled.CancellationReasons {
		codes = append(codes, *reason.Code)
	}
	if got := strings.Join(codes, " "); got != "None ConditionalCheckFailed None" || !strings.Contains(cancelled.ErrorMessage(), "[None, ConditionalCheckFailed, None]") {
		t.Errorf("reasons %s, message %s", got, cancelled.ErrorMessage())
	}
}

func TestEveryRotatesThroughFaults(t *testing.T) {
	o := newOrchard(t)
	o.Every(3, Throttled, Cancelled(), InternalError) // puts pass over Cancelled
	var got []string
	for range 9 {
		var api smithy.APIError
		if err := o.put(t.Context(), "1"); errors.As(err, &api) {
			got = append(got, api.ErrorCode())
		} else {
			must(t, err)
			got = append(got, "ok")
		}
	}
	if want := "ok ok ThrottlingException ok ok InternalServerError ok ok ThrottlingException"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	o.Heal()
	o.Every(1)
	for range 2 * len(TransientFaults()) {
		if o.put(t.Context(), "1") == nil {
			t.Error("a request succeeds")
		}
	}
	for _, fault := range TransientFaults() {
		if got := o.Counts().Faults[fault.String()]; fault.happensTo("PutItem") && got < 2 {
			t.Errorf("%s happened %d times, want at least 2", fault, got)
		}
	}
}

func TestDeniedOperationLeavesOthers(t *testing.T) {
	o := newOrchard(t)
	o.Deny("UpdateTimeToLive")
	_, err := o.client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: &o.table, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
	})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "AccessDeniedException" || !strings.Contains(api.ErrorMessage(), "dynamodb:UpdateTimeToLive") {
		t.Errorf("the error is %v", err)
	}
	must(t, o.put(t.Context(), "1"))
}

func TestLimitThrottlesExcess(t *testing.T) {
	o := newOrchard(t)
	var mu sync.Mutex
	now := time.Unix(1_000_000, 0)
	o.mu.Lock()
	o.limiter.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	o.mu.Unlock()
	o.Limit(3)
	for _, second := range []int{1, 2} {
		for i := range 5 {
			if err := o.put(t.Context(), "1"); (err != nil) != (i >= 3) {
				t.Errorf("second %d, request %d: %v", second, i+1, err)
			}
		}
		mu.Lock()
		now = now.Add(time.Second)
		mu.Unlock()
	}
	o.Limit(0)
	for range 5 {
		must(t, o.put(t.Context(), "1"))
	}
}

func TestDelayIsAddedToEachRequest(t *testing.T) {
	o := newOrchard(t)
	const delay = 60 * time.Millisecond
	o.Delay(delay)
	start := time.Now()
	must(t, o.put(t.Context(), "1"))
	if took := time.Since(start); took < delay {
		t.Errorf("the request took %s, want %s or more", took, delay)
	}
}

// TestRefusedAndFrozenClientsGoOnAfterHeal: a refused request fails, a frozen one waits. The server has the frozen one only if its answer is
// what is frozen.
func TestRefusedAndFrozenClientsGoOnAfterHeal(t *testing.T) {
	o := newOrchard(t)
	must(t, o.put(t.Context(), "connected"))
	o.Refuse()
	for range 2 {
		if err := o.put(t.Context(), "refused"); err == nil {
			t.Error("a refused request succeeds")
		}
	}
	o.Heal()
	must(t, o.put(t.Context(), "healed"))
	for _, test := range []struct {
		name   string
		freeze func()
		want   bool
	}{{"frozen", o.Freeze, false}, {"frozen answer", o.FreezeAnswers, true}} {
		test.freeze()
		ctx, done := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := o.put(ctx, test.name); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want a timeout", test.name, err)
		}
		done()
		if got := o.has(t, test.name); got != test.want {
			t.Errorf("%s: written: %t, want %t", test.name, got, test.want)
		}
		o.ResetCounts()
		held := make(chan error, 1)
		go func() { held <- o.put(t.Context(), test.name+" and healed") }()
		for o.Counts().Requests["PutItem"] == 0 {
			time.Sleep(time.Millisecond)
		}
		o.Heal()
		must(t, <-held)
	}
}

func TestWatchSeesRequestsThatReachTheServer(t *testing.T) {
	o := newOrchard(t)
	var seen []string
	o.Watch(func(operation string, body []byte, answered bool) bool {
		if !strings.Contains(string(body), "watched") || o.has(t, "watched") != answered {
			t.Errorf("%s, answered %t: %s", operation, answered, body)
		}
		seen = append(seen, operation)
		return false
	})
	o.FailNext(1, Throttled)
	if o.put(t.Context(), "watched") == nil {
		t.Error("the first request was not throttled")
	}
	must(t, o.put(t.Context(), "watched"))
	o.Watch(func(_ string, _ []byte, answered bool) bool { return !answered })
	if o.put(t.Context(), "dropped") == nil || o.has(t, "dropped") {
		t.Error("the request was not dropped")
	}
	o.Watch(nil)
	must(t, o.put(t.Context(), "other"))
	if strings.Join(seen, " ") != "PutItem PutItem" {
		t.Errorf("seen: %v", seen)
	}
}

func TestDateIsShiftedReplacedOrAbsent(t *testing.T) {
	o := newOrchard(t)
	date := func() string {
		answer, err := http.Get(o.Endpoint())
		must(t, err)
		must(t, answer.Body.Close())
		return answer.Header.Get("Date")
	}
	shifted := func(by time.Duration) {
		t.Helper()
		got, err := http.ParseTime(date())
		must(t, err)
		if off := time.Since(got) + by; off.Abs() > time.Minute {
			t.Errorf("the date is %s, want one that is off by %s", got, by)
		}
	}
	shifted(0)
	o.ShiftDate(time.Hour)
	shifted(time.Hour)
	o.Fail(Throttled) // an answer of the proxy
	shifted(time.Hour)
	o.SetDate("yesterday")
	if got := date(); got != "yesterday" {
		t.Errorf("the date is %q", got)
	}
	o.OmitDate()
	if got := date(); got != "" {
		t.Errorf("the date is %q, want none", got)
	}
	o.Heal()
	shifted(0)
}

func TestProxyCountsRequestsAndUnits(t *testing.T) {
	o := newOrchard(t)
	must(t, o.put(t.Context(), "1"))
	large := key("pear", "large")
	large["text"] = text(strings.Repeat("x", 5000))
	_, err := o.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &o.table, Item: large})
	must(t, err)
	for _, consistent := range []bool{true, false} {
		_, err = o.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &o.table, Key: key("pear", "large"), ConsistentRead: &consistent})
		must(t, err)
	}
	_, err = o.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &o.table, Item: key("pear", "1"), ConditionExpression: aws.String("attribute_not_exists(pk)")})
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		t.Errorf("the error is %v", err)
	}
	want := Units{Read: 3, Write: 1 + 5 + 1}
	got := o.ResetCounts()
	if got.Units != want || got.Requests["PutItem"] != 3 || got.Requests["GetItem"] != 2 || len(got.Faults) != 0 {
		t.Errorf("got %+v, want %+v in 3 puts and 2 gets", got, want)
	}
	if got := o.Counts(); got.Units != (Units{}) || len(got.Requests) != 0 {
		t.Errorf("after the reset: %+v", got)
	}
}

// TestProxyChangesUnderLoad runs under the race detector.
func TestProxyChangesUnderLoad(t *testing.T) {
	o := newOrchard(t)
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for range 30 {
				_ = o.put(t.Context(), "1")
			}
		})
	}
	for range 10 {
		o.Every(2)
		o.Delay(time.Millisecond)
		o.Freeze()
		o.ShiftDate(time.Hour)
		o.Refuse()
		o.Heal()
	}
	clients.Wait()
	must(t, o.put(t.Context(), "1"))
}

// TestServerDeathReachesClient: the proxy closes the connection of a request that a dead server does not answer.
func TestServerDeathReachesClient(t *testing.T) {
	s := Start(t, Dynalite)
	p := s.Proxy(t)
	s.Kill()
	if _, err := p.Client(t).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err == nil {
		t.Error("a request to a dead server succeeds")
	}
	s.Restart(t)
	_, err := p.Client(t).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	must(t, err)
}
