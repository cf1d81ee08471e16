package dyntest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestUnitsFollowItemSizes(t *testing.T) {
	item := func(bytes int) string { // with a name of one byte
		return fmt.Sprintf(`{"a":{"S":%q}}`, strings.Repeat("x", bytes-1))
	}
	for _, test := range []struct {
		name, operation, request, answer string
		want                             Units
	}{
		{"small put", "PutItem", `{"Item":` + item(10) + `}`, `{}`, Units{Write: 1}},
		{"put of 1 KiB", "PutItem", `{"Item":` + item(1024) + `}`, `{}`, Units{Write: 1}},
		{"put of 1 KiB and a byte", "PutItem", `{"Item":` + item(1025) + `}`, `{}`, Units{Write: 2}},
		{"put with values of its condition", "PutItem", `{"Item":` + item(10) + `,"ExpressionAttributeValues":` + item(5000) + `}`, `{}`, Units{Write: 1}},
		{"put over a larger item", "PutItem", `{"Item":` + item(10) + `}`, `{"Attributes":` + item(3000) + `}`, Units{Write: 3}},
		{"failed condition", "PutItem", `{"Item":` + item(2000) + `}`, `{"__type":"a#ConditionalCheckFailedException"}`, Units{Write: 2}},
		{"failed condition on a larger item", "PutItem", `{"Item":` + item(10) + `}`, `{"__type":"a#ConditionalCheckFailedException","Item":` + item(3000) + `}`, Units{Write: 3}},
		{"throttled", "PutItem", `{"Item":` + item(10) + `}`, `{"__type":"a#ThrottlingException"}`, Units{}},
		{"update", "UpdateItem", `{"Key":` + item(10) + `,"ExpressionAttributeValues":` + item(2000) + `}`, `{}`, Units{Write: 2}},
		{"delete", "DeleteItem", `{"Key":` + item(10) + `}`, `{}`, Units{Write: 1}},
		{"delete of a returned item", "DeleteItem", `{"Key":` + item(10) + `}`, `{"Attributes":` + item(4097) + `}`, Units{Write: 5}},

		{"batch", "BatchWriteItem", `{"RequestItems":{"t":[{"PutRequest":{"Item":` + item(1500) + `}},{"DeleteRequest":{"Key":` + item(9) + `}}]}}`, `{}`, Units{Write: 3}},
		{"batch with the rest left", "BatchWriteItem", `{"RequestItems":{"t":[{"PutRequest":{"Item":` + item(1500) + `}},{"DeleteRequest":{"Key":` + item(9) + `}}]}}`, `{"UnprocessedItems":{"t":[{"DeleteRequest":{"Key":` + item(9) + `}}]}}`, Units{Write: 2}},

		{"transaction", "TransactWriteItems", `{"TransactItems":[{"Put":{"Item":` + item(1500) + `}},{"ConditionCheck":{"Key":` + item(9) + `}}]}`, `{}`, Units{Write: 6}},
		{"cancelled transaction", "TransactWriteItems", `{"TransactItems":[{"Put":{"Item":` + item(15) + `}},{"Delete":{"Key":` + item(9) + `}}]}`, `{"__type":"a#TransactionCanceledException","CancellationReasons":[{"Code":"ConditionalCheckFailed","Item":` + item(3000) + `},{"Code":"None"}]}`, Units{Write: 8}},
		{"transaction of reads", "TransactGetItems", `{"TransactItems":[{"Get":{}},{"Get":{}}]}`, `{"Responses":[{"Item":` + item(5000) + `},{}]}`, Units{Read: 6}},

		{"get", "GetItem", `{}`, `{"Item":` + item(4096) + `}`, Units{Read: 0.5}},
		{"consistent get", "GetItem", `{"ConsistentRead":true}`, `{"Item":` + item(4097) + `}`, Units{Read: 2}},
		{"consistent get of nothing", "GetItem", `{"ConsistentRead":true}`, `{}`, Units{Read: 1}},
		{"query of small items", "Query", `{"ConsistentRead":true}`, `{"Items":[` + item(2000) + `,` + item(2000) + `]}`, Units{Read: 1}},
		{"query of nothing", "Query", `{}`, `{"Items":[]}`, Units{Read: 0.5}},
		{"consistent batch", "BatchGetItem", `{"RequestItems":{"t":{"ConsistentRead":true,"Keys":[` + item(9) + `,` + item(9) + `,` + item(9) + `,` + item(9) + `]}}}`, `{"Responses":{"t":[` + item(5000) + `,` + item(10) + `]},"UnprocessedKeys":{"t":{"Keys":[` + item(9) + `]}}}`, Units{Read: 4}},
		{"description", "DescribeTable", `{}`, `{}`, Units{}},
	} {
		var d document
		var a answer
		must(t, json.Unmarshal([]byte(test.request), &d))
		must(t, json.Unmarshal([]byte(test.answer), &a))
		if got := unitsOf(test.operation, &d, &a); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestSizesOfValues(t *testing.T) {
	for text, want := range map[string]int{
		`{"S":"pear"}`:                 4,
		`{"S":"ä"}`:                    2,
		`{"N":"0"}`:                    1,
		`{"N":"7"}`:                    2,
		`{"N":"-123"}`:                 4,
		`{"N":"1200"}`:                 2,
		`{"N":"0.50"}`:                 2,
		`{"N":"1.5e10"}`:               2,
		`{"BOOL":false}`:               1,
		`{"NULL":true}`:                1,
		`{"SS":["a","bc"]}`:            3,
		`{"NS":["1","22"]}`:            4,
		`{"L":[]}`:                     3,
		`{"L":[{"S":"ab"},{"N":"7"}]}`: 9,
		`{"M":{"name":{"S":"ab"},"n":{"BOOL":true}}}`: 13,
		`{"BS":["` + encoded(3) + `"]}`:               3,
		`{"B":"` + encoded(1) + `"}`:                  1,
		`{"B":"` + encoded(399_999) + `"}`:            399_999,
	} {
		var v value
		must(t, json.Unmarshal([]byte(text), &v))
		if got := v.size(); got != want {
			t.Errorf("%.40s: %d bytes, want %d", text, got, want)
		}
	}
}

func encoded(bytes int) string { return base64.StdEncoding.EncodeToString(make([]byte, bytes)) }
