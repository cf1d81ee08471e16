package dynamo

import (
	"context"

	"github.com/rotajobs/rota"
)

// fill replaces the contents of the replica by the last snapshot.
func (l *commandLog) fill(ctx context.Context) error {
	return rota.Errorf(rota.Internal, "dynamodb: open", "there is no snapshot")
}
