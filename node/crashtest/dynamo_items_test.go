//go:build unix

package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// These functions read and write items as other programs do, without a proxy.

func textValue(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func itemKey(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": textValue(pk), "SK": textValue(sk)}
}

// get returns the texts and the numbers of an item.
func (s *dynamoStore) get(f *testCluster, pk, sk string) map[string]string {
	f.Helper()
	out, err := s.client.GetItem(f.Context(), &dynamodb.GetItemInput{TableName: &s.table, Key: itemKey(pk, sk), ConsistentRead: aws.Bool(true)})
	must(f, err)
	return textsOf(out.Item)
}

// itemsOf returns the items of a partition whose sort keys end in a text.
func (s *dynamoStore) itemsOf(f *testCluster, pk, end string) (all []map[string]string) {
	f.Helper()
	out, err := s.client.Query(f.Context(), &dynamodb.QueryInput{
		TableName: &s.table, KeyConditionExpression: aws.String("PK = :pk"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": textValue(pk)},
	})
	must(f, err)
	for _, item := range out.Items {
		if texts := textsOf(item); strings.HasSuffix(texts["SK"], end) {
			all = append(all, texts)
		}
	}
	return all
}

func textsOf(attributes map[string]types.AttributeValue) map[string]string {
	item := map[string]string{}
	for name, value := range attributes {
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			item[name] = value.Value
		case *types.AttributeValueMemberN:
			item[name] = value.Value
		}
	}
	return item
}

// put writes an item of texts.
func (s *dynamoStore) put(f *testCluster, pk, sk string, texts map[string]string) {
	f.Helper()
	item := itemKey(pk, sk)
	for name, text := range texts {
		item[name] = textValue(text)
	}
	_, err := s.client.PutItem(f.Context(), &dynamodb.PutItemInput{TableName: &s.table, Item: item})
	must(f, err)
}

// set sets a number of an item.
func (s *dynamoStore) set(f *testCluster, pk, sk, name string, number int) {
	f.Helper()
	_, err := s.client.UpdateItem(f.Context(), &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: itemKey(pk, sk), UpdateExpression: aws.String("SET #name = :number"),
		ExpressionAttributeNames:  map[string]string{"#name": name},
		ExpressionAttributeValues: map[string]types.AttributeValue{":number": &types.AttributeValueMemberN{Value: fmt.Sprint(number)}},
	})
	must(f, err)
}

func (s *dynamoStore) remove(f *testCluster, pk, sk string) {
	f.Helper()
	_, err := s.client.DeleteItem(f.Context(), &dynamodb.DeleteItemInput{TableName: &s.table, Key: itemKey(pk, sk)})
	must(f, err)
}
