package dyntest

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Units are what DynamoDB bills. They are computed from the items in requests and answers, so that they are a lower bound where DynamoDB
// counts items that neither has: what UpdateItem and DeleteItem replace, and what a filter of a query drops.
type Units struct {
	Read, Write float64
}

const (
	writeUnit = 1 << 10 // bytes of an item that one unit writes
	readUnit  = 4 << 10 // bytes of an item that one unit reads, with consistency
)

// document has the fields of requests that matter to units.
type document struct {
	Item, Key                 attributes
	ExpressionAttributeValues attributes
	ConsistentRead            bool
	RequestItems              map[string]json.RawMessage // by table
	TransactItems             []transactItem
}

// transactItem is one item of a transaction: one of the fields is set.
type transactItem struct{ Put, Update, Delete, ConditionCheck, Get *document }

// answer has the fields of answers that matter to units.
type answer struct {
	Type                string `json:"__type"`
	Item, Attributes    attributes
	Items               []attributes
	Responses           json.RawMessage // of BatchGetItem by table, of TransactGetItems a list
	UnprocessedItems    map[string]json.RawMessage
	UnprocessedKeys     map[string]json.RawMessage
	CancellationReasons []struct{ Item attributes }
}

// unitsOf returns the units of a request and its answer. A failed condition and a cancelled transaction cost what their success would; other
// errors cost nothing.
func unitsOf(operation string, d *document, a *answer) Units {
	_, failure, _ := strings.Cut(a.Type, "#")
	switch {
	case failure != "" && failure != "ConditionalCheckFailedException" && failure != "TransactionCanceledException":
		return Units{}
	case operation == "PutItem", operation == "UpdateItem", operation == "DeleteItem":
		// DynamoDB counts the larger of the item before and after.
		return Units{Write: max(writesOf(d), writeUnits(a.Item.size()), writeUnits(a.Attributes.size()))}
	case operation == "BatchWriteItem":
		return batchWriteUnits(d, a)
	case operation == "TransactWriteItems":
		return transactWriteUnits(d, a)
	case operation == "GetItem":
		return Units{Read: readUnits(a.Item.size(), d.ConsistentRead)}
	case operation == "Query", operation == "Scan":
		size := 0
		for _, item := range a.Items {
			size += item.size()
		}
		return Units{Read: readUnits(size, d.ConsistentRead)}
	case operation == "BatchGetItem":
		return batchGetUnits(d, a)
	case operation == "TransactGetItems":
		return transactGetUnits(d, a)
	}
	return Units{}
}

// writesOf returns the units of the item or the key of one write.
func writesOf(d *document) float64 {
	return writeUnits(d.Item.size() + d.Key.size() + d.ExpressionAttributeValues.sizeIf(d.Item == nil))
}

func writeUnits(bytes int) float64 { return float64(max(1, ceil(bytes, writeUnit))) }

func readUnits(bytes int, consistent bool) float64 {
	units := float64(max(1, ceil(bytes, readUnit)))
	if !consistent {
		units /= 2
	}
	return units
}

func ceil(n, unit int) int { return (n + unit - 1) / unit }

func batchWriteUnits(d *document, a *answer) (units Units) {
	for table, requests := range d.RequestItems {
		units.Write += batchWrites(requests) - batchWrites(a.UnprocessedItems[table])
	}
	return units
}

func batchWrites(raw json.RawMessage) (units float64) {
	var requests []struct{ PutRequest, DeleteRequest *document }
	_ = json.Unmarshal(raw, &requests) // it may be absent, and the server refuses what is not valid
	for _, r := range requests {
		for _, write := range []*document{r.PutRequest, r.DeleteRequest} {
			if write != nil {
				units += writesOf(write)
			}
		}
	}
	return units
}

func transactWriteUnits(d *document, a *answer) (units Units) {
	for i, item := range d.TransactItems {
		most := 1.0
		for _, write := range []*document{item.Put, item.Update, item.Delete, item.ConditionCheck} {
			if write != nil {
				most = max(most, writesOf(write))
			}
		}
		if i < len(a.CancellationReasons) {
			most = max(most, writeUnits(a.CancellationReasons[i].Item.size()))
		}
		units.Write += 2 * most
	}
	return units
}

func batchGetUnits(d *document, a *answer) (units Units) {
	var found map[string][]attributes
	_ = json.Unmarshal(a.Responses, &found)
	for table, raw := range d.RequestItems {
		var ask, left struct {
			Keys           []attributes
			ConsistentRead bool
		}
		_ = json.Unmarshal(raw, &ask)
		_ = json.Unmarshal(a.UnprocessedKeys[table], &left) // absent: none
		for _, item := range found[table] {
			units.Read += readUnits(item.size(), ask.ConsistentRead)
		}
		missing := len(ask.Keys) - len(left.Keys) - len(found[table])
		units.Read += float64(missing) * readUnits(0, ask.ConsistentRead)
	}
	return units
}

func transactGetUnits(d *document, a *answer) (units Units) {
	var found []struct{ Item attributes }
	_ = json.Unmarshal(a.Responses, &found)
	for i := range d.TransactItems {
		size := 0
		if i < len(found) {
			size = found[i].Item.size()
		}
		units.Read += 2 * readUnits(size, true)
	}
	return units
}

// attributes are an item, or a part of it.
type attributes map[string]value

// value is a typed value: one of the fields is set.
type value struct {
	S          *string
	N          *string
	B          *string // base64
	BOOL, NULL *bool
	SS, NS, BS []string
	L          []value
	M          attributes
}

// size returns the bytes that DynamoDB counts for an item.
func (a attributes) size() (bytes int) {
	for name, v := range a {
		bytes += len(name) + v.size()
	}
	return bytes
}

// sizeIf returns the bytes of values if they belong to the item.
func (a attributes) sizeIf(counts bool) (bytes int) {
	if counts {
		for _, v := range a {
			bytes += v.size()
		}
	}
	return bytes
}

func (v *value) size() (bytes int) {
	switch {
	case v.S != nil:
		return len(*v.S)
	case v.N != nil:
		return numberSize(*v.N)
	case v.B != nil:
		return binarySize(*v.B)
	case v.BOOL != nil, v.NULL != nil:
		return 1
	}
	for _, s := range v.SS {
		bytes += len(s)
	}
	for _, n := range v.NS {
		bytes += numberSize(n)
	}
	for _, b := range v.BS {
		bytes += binarySize(b)
	}
	if v.L != nil || v.M != nil {
		bytes += 3 + len(v.L) + len(v.M) + v.M.size()
	}
	for i := range v.L {
		bytes += v.L[i].size()
	}
	return bytes
}

// numberSize is a byte for two significant digits, one more, and one for the sign.
func numberSize(n string) int {
	digits, negative := strings.CutPrefix(n, "-")
	digits, _, _ = strings.Cut(strings.ToLower(digits), "e")
	if strings.Contains(digits, ".") {
		digits = strings.TrimRight(strings.Replace(digits, ".", "", 1), "0")
	}
	digits = strings.Trim(digits, "0")
	bytes := ceil(len(digits), 2) + 1
	if negative {
		bytes++
	}
	return bytes
}

func binarySize(text string) int {
	return base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(text, "=")))
}
