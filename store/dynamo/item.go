package dynamo

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// item is an item of the table.
type item map[string]types.AttributeValue

// key returns an item that has the keys only.
func key(pk, sk string) item { return item{attrPK: stringValue(pk), attrSK: stringValue(sk)} }

func stringValue(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func bytesValue(b []byte) types.AttributeValue  { return &types.AttributeValueMemberB{Value: b} }
func numberValue(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// text returns the text behind a pointer of the SDK.
func text(s *string) string { return aws.ToString(s) }

// text returns an attribute of type S, or an empty text.
func (i item) text(name string) string {
	if s, is := i[name].(*types.AttributeValueMemberS); is {
		return s.Value
	}
	return ""
}

// bytes returns an attribute of type B, or nil.
func (i item) bytes(name string) []byte {
	if b, is := i[name].(*types.AttributeValueMemberB); is {
		return b.Value
	}
	return nil
}

// number returns an attribute of type N that is an integer, or 0.
func (i item) number(name string) int64 {
	n, is := i[name].(*types.AttributeValueMemberN)
	if !is {
		return 0
	}
	value, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		return 0
	}
	return value
}

// expires sets when DynamoDB may remove the item.
func (i item) expires(at time.Time) { i[attrTTL] = numberValue(at.Unix()) }

// itemBytesMax is the size of an item from which on DynamoDB refuses it.
const itemBytesMax = 400 << 10

// size returns how many bytes DynamoDB counts for the item, or a few more.
func (i item) size() (bytes int) {
	for name, value := range i {
		bytes += len(name) + sizeOf(value)
	}
	return bytes
}

func sizeOf(value types.AttributeValue) int {
	bytes := 3 // of a list or a map
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return len(value.Value)
	case *types.AttributeValueMemberN:
		return len(value.Value) + 1
	case *types.AttributeValueMemberB:
		return len(value.Value)
	case *types.AttributeValueMemberSS:
		for _, v := range value.Value {
			bytes += len(v)
		}
	case *types.AttributeValueMemberNS:
		for _, v := range value.Value {
			bytes += len(v) + 1
		}
	case *types.AttributeValueMemberBS:
		for _, v := range value.Value {
			bytes += len(v)
		}
	case *types.AttributeValueMemberL:
		for _, v := range value.Value {
			bytes += sizeOf(v) + 1
		}
	case *types.AttributeValueMemberM:
		for name, v := range value.Value {
			bytes += len(name) + sizeOf(v) + 1
		}
	}
	return bytes
}

// itemKey is a key that can be compared.
type itemKey struct{ pk, sk string }

func keyOf(i item) itemKey { return itemKey{i.text(attrPK), i.text(attrSK)} }

func (i item) key() item { return item{attrPK: i[attrPK], attrSK: i[attrSK]} }

// isNew is the condition that no item has the keys.
const isNew = "attribute_not_exists(" + attrPK + ")"

// put writes an item, however often it takes. Nothing else writes an item with these keys, or the last one wins.
func (t *table) put(ctx context.Context, act string, i item) error {
	return t.call(ctx, act, func(ctx context.Context) error {
		_, err := t.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &t.name, Item: i})
		return err
	})
}

// get reads an item, or nil.
func (t *table) get(ctx context.Context, act string, k item) (found item, err error) {
	err = t.call(ctx, act, func(ctx context.Context) error {
		out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &t.name, Key: k, ConsistentRead: aws.Bool(true)})
		if err == nil && len(out.Item) > 0 {
			found = out.Item
		}
		return err
	})
	return found, err
}

// getMany reads items in the order of their keys, up to the first that is missing. It may return fewer.
func (t *table) getMany(ctx context.Context, act string, keys []item) (found []item, err error) {
	request := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, k := range keys {
		request.Keys = append(request.Keys, k)
	}
	all := map[itemKey]item{}
	err = t.call(ctx, act, func(ctx context.Context) error {
		out, err := t.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{t.name: request}})
		if err != nil {
			return err
		}
		for _, i := range out.Responses[t.name] {
			all[keyOf(i)] = i
		}
		return nil
	})
	for _, k := range keys {
		i, is := all[keyOf(k)]
		if !is {
			break
		}
		found = append(found, i)
	}
	return found, err
}

// getEach reads items. The answer lacks those that do not exist.
func (t *table) getEach(ctx context.Context, act string, keys []item) (found map[itemKey]item, err error) {
	found = map[itemKey]item{}
	for chunk := range slices.Chunk(distinct(keys), getsAtOnce) {
		request := types.KeysAndAttributes{ConsistentRead: aws.Bool(true), Keys: chunk}
		err := t.call(ctx, act, func(ctx context.Context) error {
			out, err := t.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{t.name: request}})
			if err != nil {
				return err
			}
			for _, i := range out.Responses[t.name] {
				found[keyOf(i)] = i
			}
			if left, is := out.UnprocessedKeys[t.name]; is && len(left.Keys) > 0 {
				request.Keys = left.Keys
				return &types.ProvisionedThroughputExceededException{}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// getsAtOnce is how many items one request may read.
const getsAtOnce = 100

func distinct(keys []item) (different []map[string]types.AttributeValue) {
	seen := map[itemKey]bool{}
	for _, k := range keys {
		if !seen[keyOf(k)] {
			seen[keyOf(k)] = true
			different = append(different, k)
		}
	}
	return different
}

// update changes an item. If the condition does not hold, it returns false.
func (t *table) update(ctx context.Context, act string, k item, expression, condition string, names map[string]string, values item) (changed bool, err error) {
	err = t.call(ctx, act, func(ctx context.Context) error {
		input := &dynamodb.UpdateItemInput{
			TableName: &t.name, Key: k, UpdateExpression: &expression,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}
		if condition != "" {
			input.ConditionExpression = &condition
		}
		_, err := t.client.UpdateItem(ctx, input)
		if changed = err == nil; isConditionFailed(err) {
			return nil
		}
		return err
	})
	return changed, err
}

// remove deletes an item. If the condition does not hold, it returns false.
func (t *table) remove(ctx context.Context, act string, k item, condition string, names map[string]string, values item) (removed bool, err error) {
	err = t.call(ctx, act, func(ctx context.Context) error {
		input := &dynamodb.DeleteItemInput{TableName: &t.name, Key: k, ExpressionAttributeNames: names, ExpressionAttributeValues: values}
		if condition != "" {
			input.ConditionExpression = &condition
		}
		_, err := t.client.DeleteItem(ctx, input)
		if removed = err == nil; isConditionFailed(err) {
			return nil
		}
		return err
	})
	return removed, err
}

// query reads the items of a partition in order: a page, and the key after which the next one begins.
func (t *table) query(ctx context.Context, act string, input *dynamodb.QueryInput) (page []item, next item, err error) {
	err = t.call(ctx, act, func(ctx context.Context) error {
		input.TableName, input.ConsistentRead = &t.name, aws.Bool(true)
		out, err := t.client.Query(ctx, input)
		if err != nil {
			return err
		}
		page = make([]item, len(out.Items))
		for n, i := range out.Items {
			page[n] = i
		}
		next = out.LastEvaluatedKey
		return nil
	})
	return page, next, err
}

// queryAll reads all items of a partition.
func (t *table) queryAll(ctx context.Context, act, pk string) (all []item, err error) {
	input := &dynamodb.QueryInput{
		KeyConditionExpression: aws.String(attrPK + " = :pk"), ExpressionAttributeValues: item{":pk": stringValue(pk)},
	}
	for {
		page, next, err := t.query(ctx, act, input)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); next == nil {
			return all, nil
		}
		input.ExclusiveStartKey = next
	}
}

func isConditionFailed(err error) bool {
	var failed *types.ConditionalCheckFailedException
	return errors.As(err, &failed)
}

func isValidation(err error) bool { return hasCode(err, "ValidationException") }

// isUnsupported reports whether a server for tests does not know an operation.
func isUnsupported(err error) bool { return hasCode(err, "UnknownOperationException") }

func hasCode(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}
