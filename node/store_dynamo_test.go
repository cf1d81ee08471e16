package node

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/dynamo"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

// openOn opens a node on a store, which must fail with an error that has all texts.
func wantOpenError(t *testing.T, config Config, code rota.Code, texts ...string) {
	t.Helper()
	config.HTTP, config.SQL, config.Logger = "127.0.0.1:0", "none", quiet
	if config.Data == "" {
		config.Data = t.TempDir()
	}
	n, err := Open(t.Context(), config)
	if err == nil {
		_ = n.Close()
		t.Fatal("the node opens")
	}
	if rota.CodeOf(err) != code {
		t.Errorf("the code of %q is %s, want %s", err, rota.CodeOf(err), code)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q does not name %q", err, text)
		}
	}
}

func TestNodeRefusesTableWithOtherKeys(t *testing.T) {
	server := dyntest.Shared(t, dyntest.Dynoxide)
	name := server.TableName(t)
	_, err := server.Client(t).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeN}},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, Config{Store: server.URL(name)}, rota.Conflict, name, "id (N)", "PK and SK")
}

func TestNodeRefusesReplicaOfAnotherTable(t *testing.T) {
	first, data := newTable(t), t.TempDir()
	start(t, Config{Data: data, Store: first, SQL: "none"}).stopCleanly()
	second := newTable(t)
	table, _, _ := strings.Cut(strings.TrimPrefix(second, "dynamodb://"), "?")
	wantOpenError(t, Config{Data: data, Store: second}, rota.Conflict, data, table, dynamo.ReplicaName)
	start(t, Config{Data: data, Store: first, SQL: "none"})
	wantOpenError(t, Config{Data: data, Store: second}, rota.Busy, data)
}

func TestNodeRefusesLeaseThatClocksCannotKeep(t *testing.T) {
	wantOpenError(t, Config{Store: newTable(t), Lease: 19 * time.Second}, rota.Invalid, "lease", "19s", "20s")
}

func TestNodeNamesMissingCredentials(t *testing.T) {
	url := newTable(t)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	wantOpenError(t, Config{Store: url}, rota.Unavailable, "no credentials of AWS", "AWS_PROFILE")
}

// A right that is missing at the start is named.
func TestNodeNamesMissingRight(t *testing.T) {
	server := dyntest.Start(t, dyntest.Dynoxide)
	for _, operation := range []string{"DescribeTable", "CreateTable", "DescribeTimeToLive", "UpdateTimeToLive", "GetItem", "PutItem"} {
		proxy := server.Proxy(t)
		proxy.Deny(operation)
		wantOpenError(t, Config{Store: proxy.URL(server.TableName(t)) + tableParameters}, rota.Unavailable, "not authorized", "dynamodb:"+operation, "docs/dynamodb.md")
	}
}

// When a node is cut off from the table, its run is stopped, and another node runs the job after the lease. The node
// says that it is not ready, and continues when it reaches the table again.
func TestOtherNodeRunsJobOfNodeThatIsCutOff(t *testing.T) {
	server := dyntest.Start(t, dyntest.Dynoxide)
	proxy, table := server.Proxy(t), server.TableName(t)
	h := newBlocking()
	config := func(name, url string, handle func(context.Context, *rota.Job) error) Config {
		return Config{
			Name: name, Data: t.TempDir(), Store: url + "&skew=200ms&poll=100ms", SQL: "none", Lease: 2 * time.Second, CancelGrace: time.Second,
			Register: func(reg *engine.Registry) { reg.Func("work", rota.TypeSpec{}, handle) },
		}
	}
	a := start(t, config("a", proxy.URL(table), h.run))
	id := a.enqueue(`{"type": "work", "backoff": "50ms"}`)
	await(t, "started", h.started)
	again := make(chan rota.ID, 1)
	b := start(t, config("b", server.URL(table), func(_ context.Context, job *rota.Job) error {
		again <- job.ExecutionID
		return nil
	}))
	proxy.Refuse()
	await(t, "stopped", h.stopped)
	if got := await(t, "started at the other node", again); got != id {
		t.Errorf("the other node runs %s, want %s", got, id)
	}
	b.await(rota.EventJobCompleted, id)
	proxy.Heal()
	next := a.enqueue(`{"type": "noop"}`)
	for late := time.Now().Add(waitMax); a.status("/readyz") != 200; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("the node does not become ready again")
		}
	}
	if job, err := b.store.Job(t.Context(), next); err != nil || job.Type != "noop" {
		t.Errorf("the other node does not see the job of the first: %v", err)
	}
}
