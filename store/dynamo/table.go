package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rotajobs/rota"
)

// table is a table and the client that reads and writes it.
type table struct {
	client *dynamodb.Client
	name   string
	clock  *serviceClock
}

// The names of attributes of all items.
const (
	attrPK  = "PK"
	attrSK  = "SK"
	attrTTL = "ttl"
)

// open creates the table if it does not exist and may be created, and refuses one that has another form.
func (t *table) open(ctx context.Context, create bool) error {
	described, err := t.describe(ctx)
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		if !create {
			return noStore(t.name)
		}
		if err := t.create(ctx); err != nil {
			return err
		}
		described, err = t.describe(ctx)
	}
	if err != nil {
		return t.fault("describe table", err)
	}
	if err := t.check(described); err != nil {
		return err
	}
	if described.TableStatus != types.TableStatusActive && described.TableStatus != types.TableStatusUpdating {
		if err := t.waitActive(ctx); err != nil {
			return err
		}
	}
	if !create {
		return nil
	}
	return t.enableTTL(ctx)
}

// describe returns the raw error, because a missing table is no fault.
func (t *table) describe(ctx context.Context) (described *types.TableDescription, err error) {
	var last error
	err = t.call(ctx, "describe table", func(ctx context.Context) error {
		out, err := t.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.name})
		if last = err; err != nil {
			return err
		}
		described = out.Table
		return nil
	})
	var missing *types.ResourceNotFoundException
	if errors.As(last, &missing) {
		return nil, last
	}
	return described, err
}

func (t *table) create(ctx context.Context) error {
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	err := t.call(ctx, "create table", func(ctx context.Context) error {
		_, err := t.client.CreateTable(ctx, &dynamodb.CreateTableInput{
			TableName: &t.name, BillingMode: types.BillingModePayPerRequest,
			KeySchema:            []types.KeySchemaElement{key(attrPK, types.KeyTypeHash), key(attrSK, types.KeyTypeRange)},
			AttributeDefinitions: []types.AttributeDefinition{attribute(attrPK), attribute(attrSK)},
		})
		if inUse := (*types.ResourceInUseException)(nil); errors.As(err, &inUse) {
			return nil // another process creates it
		}
		return err
	})
	if err != nil {
		return err
	}
	return t.waitActive(ctx)
}

// createTimeout is how long DynamoDB may take to create a table.
const createTimeout = 2 * time.Minute

func (t *table) waitActive(ctx context.Context) error {
	for deadline := time.Now().Add(createTimeout); ; {
		described, err := t.describe(ctx)
		switch missing := (*types.ResourceNotFoundException)(nil); {
		case err == nil && described.TableStatus == types.TableStatusActive:
			return nil
		case err != nil && !errors.As(err, &missing):
			return err
		case time.Now().After(deadline):
			return rota.Errorf(rota.Unavailable, "dynamodb: create table", "the table %s is not active after %s", t.name, createTimeout)
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// check refuses a table with other keys, and a table that several regions write.
func (t *table) check(d *types.TableDescription) error {
	kinds := map[string]types.ScalarAttributeType{}
	for _, a := range d.AttributeDefinitions {
		kinds[text(a.AttributeName)] = a.AttributeType
	}
	names := map[types.KeyType]string{}
	for _, k := range d.KeySchema {
		names[k.KeyType] = text(k.AttributeName)
	}
	hash, sort := names[types.KeyTypeHash], names[types.KeyTypeRange]
	switch {
	case hash != attrPK || sort != attrSK || kinds[hash] != types.ScalarAttributeTypeS || kinds[sort] != types.ScalarAttributeTypeS:
		return &rota.Error{
			Code: rota.Conflict, Act: "dynamodb: open", Reason: fmt.Sprintf("the table %s has the keys %s; a store needs PK and SK, both of type S", t.name, shownKeys(hash, sort, kinds)),
			Hint: "use another table; one that does not exist is created",
		}
	case len(d.Replicas) > 0:
		return &rota.Error{
			Code: rota.Conflict, Act: "dynamodb: open", Reason: fmt.Sprintf("%s is a global table: its regions would take the same slot of the log twice", t.name),
			Hint: "use a table of one region",
		}
	}
	return nil
}

func shownKeys(hash, sort string, kinds map[string]types.ScalarAttributeType) string {
	shown := fmt.Sprintf("%s (%s)", hash, kinds[hash])
	if sort != "" {
		shown += fmt.Sprintf(" and %s (%s)", sort, kinds[sort])
	}
	return shown
}

// enableTTL has DynamoDB remove items after their time. A server for tests may not support it, and a process
// may lack the right if someone has enabled it before.
func (t *table) enableTTL(ctx context.Context) error {
	var status types.TimeToLiveStatus
	name := ""
	err := t.call(ctx, "describe TTL", func(ctx context.Context) error {
		out, err := t.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &t.name})
		if isUnsupported(err) {
			status, name = types.TimeToLiveStatusEnabled, attrTTL
			return nil
		}
		if err == nil && out.TimeToLiveDescription != nil {
			status, name = out.TimeToLiveDescription.TimeToLiveStatus, text(out.TimeToLiveDescription.AttributeName)
		}
		return err
	})
	if err != nil {
		return err
	}
	if status == types.TimeToLiveStatusEnabled || status == types.TimeToLiveStatusEnabling {
		if name != attrTTL {
			return &rota.Error{
				Code: rota.Conflict, Act: "dynamodb: open", Reason: fmt.Sprintf("the table %s removes items by the attribute %s; a store needs %s", t.name, name, attrTTL),
				Hint: "change the attribute of its TTL, or use another table",
			}
		}
		return nil
	}
	return t.call(ctx, "enable TTL", func(ctx context.Context) error {
		_, err := t.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: &t.name, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(attrTTL), Enabled: aws.Bool(true)},
		})
		if isUnsupported(err) || isValidation(err) { // another process has just enabled it
			return nil
		}
		return err
	})
}
