package dyntest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// The tests of this file state the facts about servers that the DynamoDB store and its tests rely on. They run on DynamoDB itself too.

// table is a table on a server.
type table struct {
	*dynamodb.Client
	kind Kind
	name string
}

func onEachTable(t *testing.T, test func(t *testing.T, table *table)) {
	onEach(t, func(t *testing.T, kind Kind) {
		s := Shared(t, kind)
		client := s.Client(t)
		test(t, &table{client, s.Kind(), newTable(t, s, client)})
	})
}

// create puts an item if none has its key.
func (tb *table) create(t *testing.T, item item) error {
	t.Helper()
	_, err := tb.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: &tb.name, Item: item, ConditionExpression: aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return fmt.Sprint(err)
}

func with(item item, name, value string) item {
	item[name] = text(value)
	return item
}

// stringOf returns an attribute, or an empty text.
func stringOf(item item, name string) string {
	if s, is := item[name].(*types.AttributeValueMemberS); is {
		return s.Value
	}
	return ""
}

func TestServersReturnItemOfFailedCondition(t *testing.T) {
	onEachTable(t, func(t *testing.T, tb *table) {
		must(t, tb.create(t, with(key("pear", "1"), "owner", "first")))
		err := tb.create(t, with(key("pear", "1"), "owner", "second"))
		var failed *types.ConditionalCheckFailedException
		if !errors.As(err, &failed) {
			t.Fatalf("the error is %v", err)
		}
		want := "first"
		if tb.kind == Dynalite {
			want = "" // it does not know ReturnValuesOnConditionCheckFailure
		}
		if got := stringOf(failed.Item, "owner"); got != want {
			t.Errorf("the error has the item of %q, want %q", got, want)
		}
	})
}

func TestServersRunTransactionsExceptDynalite(t *testing.T) {
	onEachTable(t, func(t *testing.T, tb *table) {
		create := func(sk string) types.TransactWriteItem {
			return types.TransactWriteItem{Put: &types.Put{
				TableName: &tb.name, Item: key("pear", sk), ConditionExpression: aws.String("attribute_not_exists(pk)"),
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
			}}
		}
		run := func(token string, items ...types.TransactWriteItem) error {
			_, err := tb.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: items, ClientRequestToken: aws.String(token + tb.name)})
			return err
		}
		err := run("1", create("1"), create("2"))
		if tb.kind == Dynalite {
			if got := codeOf(err); got != "UnknownOperationException" {
				t.Errorf("the error is %v", err)
			}
			return
		}
		must(t, err)
		must(t, run("1", create("1"), create("2"))) // the same token: it has been carried out
		err = run("2", create("3"), create("2"))
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 2 {
			t.Fatalf("the error is %v", err)
		}
		first, second := cancelled.CancellationReasons[0], cancelled.CancellationReasons[1]
		if *first.Code != "None" || *second.Code != "ConditionalCheckFailed" || stringOf(second.Item, "sk") != "2" {
			t.Errorf("the reasons are %+v and %+v", first, second)
		}
		if got := tb.read(t, "3"); len(got) != 0 {
			t.Errorf("a cancelled transaction has written %v", got)
		}
		items := []types.TransactWriteItem{}
		for i := range 101 {
			items = append(items, create(fmt.Sprint("many", i)))
		}
		must(t, run("3", items[:100]...))
		if got := codeOf(run("4", items...)); got != "ValidationException" {
			t.Errorf("101 items: %s", got)
		}
	})
}

// read returns items of the partition pear, in the order of the keys.
func (tb *table) read(t *testing.T, sks ...string) (found []item) {
	t.Helper()
	keys := []item{}
	for _, sk := range sks {
		keys = append(keys, key("pear", sk))
	}
	got, err := tb.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		tb.name: {Keys: keys, ConsistentRead: aws.Bool(true)},
	}})
	must(t, err)
	if len(got.UnprocessedKeys) > 0 {
		t.Fatalf("unprocessed: %v", got.UnprocessedKeys)
	}
	return got.Responses[tb.name]
}

func TestServersReadBatchWithoutMissingItems(t *testing.T) {
	onEachTable(t, func(t *testing.T, tb *table) {
		var all []string
		for i := range 16 {
			all = append(all, fmt.Sprintf("%02d", i))
			if i%2 == 0 {
				must(t, tb.create(t, key("pear", all[i])))
			}
		}
		found := map[string]bool{}
		for _, item := range tb.read(t, all...) { // in any order
			found[stringOf(item, "sk")] = true
		}
		if len(found) != 8 || !found["00"] || !found["14"] {
			t.Errorf("found %v", found)
		}
	})
}

func TestServersQueryRangeInPages(t *testing.T) {
	onEachTable(t, func(t *testing.T, tb *table) {
		for i := range 7 {
			must(t, tb.create(t, key("pear", fmt.Sprintf("%02d", i))))
		}
		must(t, tb.create(t, key("plum", "00")))
		query := &dynamodb.QueryInput{
			TableName: &tb.name, KeyConditionExpression: aws.String("pk = :pk AND sk <= :sk"), Limit: aws.Int32(2), ConsistentRead: aws.Bool(true),
			ExpressionAttributeValues: item{":pk": text("pear"), ":sk": text("04")},
		}
		var got []string
		pages := 0
		for ; query.ExclusiveStartKey != nil || pages == 0; pages++ {
			page, err := tb.Query(t.Context(), query)
			must(t, err)
			for _, item := range page.Items {
				got = append(got, stringOf(item, "sk"))
			}
			query.ExclusiveStartKey = page.LastEvaluatedKey
		}
		if strings.Join(got, " ") != "00 01 02 03 04" || pages != 3 {
			t.Errorf("%d pages with %v", pages, got)
		}
		// A page that the limit ends has a next key, also if nothing follows.
		query.ExpressionAttributeValues[":sk"], query.ExclusiveStartKey = text("01"), nil
		page, err := tb.Query(t.Context(), query)
		must(t, err)
		if query.ExclusiveStartKey = page.LastEvaluatedKey; len(page.Items) != 2 || page.LastEvaluatedKey == nil {
			t.Fatalf("a full page has %d items and the next key %v", len(page.Items), page.LastEvaluatedKey)
		}
		page, err = tb.Query(t.Context(), query)
		must(t, err)
		if len(page.Items) != 0 || page.LastEvaluatedKey != nil {
			t.Errorf("the page after the last has %d items and the next key %v", len(page.Items), page.LastEvaluatedKey)
		}
	})
}

func TestServersSetTimeToLiveExceptDynalite(t *testing.T) {
	onEachTable(t, func(t *testing.T, tb *table) {
		_, err := tb.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
			TableName: &tb.name, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
		})
		got, describeErr := tb.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &tb.name})
		if tb.kind == Dynalite {
			// It refuses to set it, and describes it as disabled.
			if codeOf(err) != "UnknownOperationException" {
				t.Errorf("the error is %v", err)
			}
			must(t, describeErr)
			if got.TimeToLiveDescription.TimeToLiveStatus != types.TimeToLiveStatusDisabled {
				t.Errorf("it is %s", got.TimeToLiveDescription.TimeToLiveStatus)
			}
			return
		}
		must(t, err)
		must(t, describeErr)
		ttl := got.TimeToLiveDescription
		if status := ttl.TimeToLiveStatus; status != types.TimeToLiveStatusEnabled && status != types.TimeToLiveStatusEnabling || *ttl.AttributeName != "ttl" {
			t.Errorf("TTL is %s on %s", status, aws.ToString(ttl.AttributeName))
		}
	})
}

func TestServersDescribeTable(t *testing.T) {
	onEachTable(t, func(t *testing.T, tb *table) {
		got, err := tb.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &tb.name})
		must(t, err)
		schema := got.Table.KeySchema
		if len(schema) != 2 || *schema[0].AttributeName != "pk" || schema[0].KeyType != types.KeyTypeHash || *schema[1].AttributeName != "sk" || schema[1].KeyType != types.KeyTypeRange {
			t.Errorf("keys are %+v", schema)
		}
		if d := got.Table.AttributeDefinitions; len(d) != 2 || d[0].AttributeType != types.ScalarAttributeTypeS {
			t.Errorf("attributes are %+v", d)
		}
		if billing := got.Table.BillingModeSummary; billing == nil || billing.BillingMode != types.BillingModePayPerRequest {
			t.Errorf("billing is %+v", billing)
		}
		_, err = tb.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: &tb.name, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: got.Table.AttributeDefinitions, KeySchema: schema,
		})
		var exists *types.ResourceInUseException
		if !errors.As(err, &exists) {
			t.Errorf("a second table of the name: %v", err)
		}
		_, err = tb.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(tb.name + "-other")})
		var missing *types.ResourceNotFoundException
		if !errors.As(err, &missing) {
			t.Errorf("a table that does not exist: %v", err)
		}
	})
}

// TestServersReportCreation: a table is CREATING at first. A write then fails with ResourceNotFoundException, except on Dynoxide.
func TestServersReportCreation(t *testing.T) {
	onEach(t, func(t *testing.T, kind Kind) {
		s := Shared(t, kind)
		client, name := s.Client(t), s.TableName(t)
		created, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: &name, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		})
		must(t, err)
		_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: item{"pk": text("pear")}})
		var missing *types.ResourceNotFoundException
		if err != nil && !errors.As(err, &missing) || err != nil && kind == Dynoxide && s.Kind() != DynamoDB {
			t.Errorf("a write at once: %v", err)
		}
		if got := created.TableDescription.TableStatus; got != types.TableStatusCreating {
			t.Errorf("the table is %s", got)
		}
		waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 10 * time.Millisecond })
		must(t, waiter.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, timeout))
		_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: item{"pk": text("pear")}})
		must(t, err)
	})
}

func TestServersLimitItemTo400KB(t *testing.T) {
	const limit = 400 << 10
	onEachTable(t, func(t *testing.T, tb *table) {
		sized := func(sk string, bytes int) item {
			it := key("pear", sk)
			names := len("pk") + len("pear") + len("sk") + len(sk) + len("data")
			it["data"] = &types.AttributeValueMemberB{Value: make([]byte, bytes-names)}
			return it
		}
		must(t, tb.create(t, sized("1", limit)))
		if got := codeOf(tb.create(t, sized("2", limit+1))); got != "ValidationException" {
			t.Errorf("an item of a byte more: %s", got)
		}
	})
}

// TestServersEndPageAt1MB: two items of 400 KB are a page, with a third one on Dynalite, which adds the item that exceeds 1 MB.
func TestServersEndPageAt1MB(t *testing.T) {
	onEachTable(t, func(t *testing.T, tb *table) {
		for _, sk := range []string{"1", "2", "3", "4"} {
			must(t, tb.create(t, with(key("pear", sk), "data", strings.Repeat("x", 399<<10))))
		}
		query := &dynamodb.QueryInput{TableName: &tb.name, KeyConditionExpression: aws.String("pk = :pk"), ExpressionAttributeValues: item{":pk": text("pear")}}
		var pages []int
		for rest := true; rest; rest = query.ExclusiveStartKey != nil {
			page, err := tb.Query(t.Context(), query)
			must(t, err)
			pages = append(pages, len(page.Items))
			query.ExclusiveStartKey = page.LastEvaluatedKey
		}
		if first := pages[0]; first != 2 && first != 3 || len(pages) < 2 {
			t.Errorf("pages have %v items", pages)
		}
		t.Logf("pages of 4 items have %v items", pages)
	})
}

func TestServersSendDate(t *testing.T) {
	onEachTable(t, func(t *testing.T, tb *table) {
		got, err := tb.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &tb.name, Key: key("pear", "1")})
		must(t, err)
		checkDate(t, middlewareDate(got.ResultMetadata))
		must(t, tb.create(t, key("pear", "1")))
		err = tb.create(t, key("pear", "1"))
		var answer *smithyhttp.ResponseError
		if !errors.As(err, &answer) {
			t.Fatalf("the error is %v", err)
		}
		checkDate(t, answer.HTTPResponse().Header.Get("Date"))
	})
}

func middlewareDate(metadata middleware.Metadata) string {
	raw, is := awsmiddleware.GetRawResponse(metadata).(*smithyhttp.Response)
	if !is {
		return ""
	}
	return raw.Header.Get("Date")
}

func checkDate(t *testing.T, text string) {
	t.Helper()
	date, err := http.ParseTime(text)
	if err != nil || time.Since(date).Abs() > time.Minute {
		t.Errorf("the date is %q, %v", text, err)
	}
}

func TestServersStartFast(t *testing.T) {
	onEach(t, func(t *testing.T, kind Kind) {
		begun := time.Now()
		s := Start(t, kind)
		t.Logf("started in %s", time.Since(begun))
		ctx, done := context.WithTimeout(t.Context(), timeout)
		defer done()
		_, err := s.Client(t).ListTables(ctx, &dynamodb.ListTablesInput{})
		must(t, err)
	})
}
