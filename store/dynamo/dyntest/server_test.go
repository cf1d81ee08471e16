package dyntest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// onEach runs a test on each kind of server.
func onEach(t *testing.T, test func(t *testing.T, kind Kind)) {
	for _, kind := range []Kind{Dynoxide, Dynalite} {
		t.Run(string(kind), func(t *testing.T) { test(t, kind) })
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRestartKeepsTablesOnDiskOnly(t *testing.T) {
	onEach(t, func(t *testing.T, kind Kind) {
		for _, test := range []struct {
			name  string
			start func(testing.TB, Kind) *Server
			want  bool
		}{{"in memory", Start, false}, {"on disk", StartOnDisk, true}} {
			t.Run(test.name, func(t *testing.T) {
				s := test.start(t, kind)
				table, endpoint := newTable(t, s, s.Client(t)), s.Endpoint()
				put(t, s.Client(t), table, "a", "1")
				s.Restart(t)
				if s.Endpoint() != endpoint {
					t.Errorf("the endpoint is %s, was %s", s.Endpoint(), endpoint)
				}
				got, err := s.Client(t).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key("a", "1")})
				var missing *types.ResourceNotFoundException
				if found := err == nil && len(got.Item) > 0; found != test.want || err != nil && !errors.As(err, &missing) {
					t.Errorf("the item is found: %t, %v; want %t", found, err, test.want)
				}
			})
		}
	})
}

func TestPausedServerAnswersAfterResume(t *testing.T) {
	onEach(t, func(t *testing.T, kind Kind) {
		s := Start(t, kind)
		client := s.Client(t)
		list := func(patience time.Duration) error {
			ctx, done := context.WithTimeout(t.Context(), patience)
			defer done()
			_, err := client.ListTables(ctx, &dynamodb.ListTablesInput{})
			return err
		}
		must(t, list(timeout))
		s.Pause(t)
		if err := list(50 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while the server is paused: %v, want a timeout", err)
		}
		s.Resume(t)
		must(t, list(timeout))
		s.Kill()
		if err := list(timeout); err == nil {
			t.Error("a killed server answers")
		}
	})
}

func TestSharedServerIsStartedOnce(t *testing.T) {
	onEach(t, func(t *testing.T, kind Kind) {
		if a, b := Shared(t, kind), Shared(t, kind); endsWithParent && a.Endpoint() != b.Endpoint() {
			t.Errorf("two servers: %s and %s", a.Endpoint(), b.Endpoint())
		}
	})
}

func TestTablesOfTestsAreDeleted(t *testing.T) {
	onEach(t, func(t *testing.T, kind Kind) {
		s := Shared(t, kind)
		var table string
		t.Run("creates a table", func(t *testing.T) { table = newTable(t, s, s.Client(t)) })
		for deadline := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
			_, err := s.Client(t).DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
			var missing *types.ResourceNotFoundException
			if errors.As(err, &missing) {
				return
			}
			must(t, err)
			if time.Now().After(deadline) {
				t.Fatal("the table still exists")
			}
		}
	})
}

func TestURLOfServiceIsChecked(t *testing.T) {
	s, err := openService("dynamodb://orchard?region=eu-west-1")
	must(t, err)
	if s.Kind() != DynamoDB || s.Region() != "eu-west-1" || s.Endpoint() != "" {
		t.Errorf("got %+v", s)
	}
	if got := s.URL("pears"); got != "dynamodb://pears?region=eu-west-1" {
		t.Errorf("URL of a table: %s", got)
	}
	if name := s.TableName(t); !strings.HasPrefix(name, "orchard-test-") {
		t.Errorf("table %s, want the prefix orchard", name)
	}
	for _, raw := range []string{"orchard", "dynamodb://orchard", "dynamodb://?region=eu-west-1", "https://orchard?region=eu-west-1", "dynamodb://%"} {
		if _, err := openService(raw); err == nil || !strings.Contains(err.Error(), URLVar) {
			t.Errorf("%s: %v, want an error that names %s", raw, err, URLVar)
		}
	}
}

func TestMissingServerNamesRemedy(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, kind := range []Kind{Dynoxide, Dynalite} {
		if _, err := command(kind, 1, ""); err == nil || !strings.Contains(err.Error(), "make dynamo") {
			t.Errorf("%s: %v, want the remedy", kind, err)
		}
	}
	if _, err := command("mongo", 1, ""); err == nil {
		t.Error("no error for an unknown kind")
	}
}

func TestDeveloperCredentialsAreNotSent(t *testing.T) {
	Shared(t, Dynalite)
	if got := os.Getenv("AWS_ACCESS_KEY_ID"); os.Getenv(URLVar) == "" && got != "test" {
		t.Errorf("AWS_ACCESS_KEY_ID=%s", got)
	}
}

// newTable creates a table with the keys pk and sk, and waits until it is active.
func newTable(t testing.TB, s *Server, client *dynamodb.Client) string {
	t.Helper()
	table := s.TableName(t)
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("sk")},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	must(t, err)
	for deadline := time.Now().Add(timeout); ; time.Sleep(5 * time.Millisecond) {
		got, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
		must(t, err)
		if got.Table.TableStatus == types.TableStatusActive {
			return table
		}
		if time.Now().After(deadline) {
			t.Fatalf("the table is %s", got.Table.TableStatus)
		}
	}
}

// item is an item, or its key.
type item = map[string]types.AttributeValue

func key(pk, sk string) item { return item{"pk": text(pk), "sk": text(sk)} }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func put(t testing.TB, client *dynamodb.Client, table, pk, sk string) {
	t.Helper()
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: key(pk, sk)})
	must(t, err)
}
