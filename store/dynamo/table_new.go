package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rotajobs/rota"
)

// createNew creates the table, and refuses one that exists.
func (t *table) createNew(ctx context.Context) error {
	_, err := t.describe(ctx)
	var missing *types.ResourceNotFoundException
	switch {
	case err == nil:
		return &rota.Error{
			Code: rota.Conflict, Act: "dynamodb: open", Reason: fmt.Sprintf("the table %s exists already", t.name),
			Hint: "name a table that does not exist",
		}
	case errors.As(err, &missing):
		return t.create(ctx)
	}
	return err
}

// DeleteTable deletes the table with everything in it. Benchmarks and tests call it before Close.
func (s *Store) DeleteTable(ctx context.Context) error {
	t := s.log.table
	return t.call(ctx, "delete table", func(ctx context.Context) error {
		_, err := t.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &t.name})
		return err
	})
}
