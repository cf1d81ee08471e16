package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rotajobs/rota"
)

// A long body is written as chunks before its slot, so that a lost race costs one write unit and not all of
// them.
const (
	inlineMax = 8 << 10
	chunkMax  = 350 << 10 // an item has at most 400 KB

	chunksAtOnce = 8 // requests

	attrData = "data"
)

func chunkKey(name string, n int) item { return key("rota#chunk#"+name, fmt.Sprintf("%06d", n)) }

// putChunks writes data as chunks, at the same time, and returns how many there are.
func (t *table) putChunks(ctx context.Context, name string, data []byte, expires time.Time) (int64, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(chunksAtOnce)
	n := 0
	for chunk := range slices.Chunk(data, chunkMax) {
		i := chunkKey(name, n)
		i[attrData] = bytesValue(chunk)
		if !expires.IsZero() {
			i.expires(expires)
		}
		group.Go(func() error { return t.put(ctx, "write chunk", i) })
		n++
	}
	return int64(n), group.Wait()
}

var errNoChunk = errors.New("the table has no such item")

// removeChunks removes the chunks of data.
func (t *table) removeChunks(ctx context.Context, name string, count int64) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(chunksAtOnce)
	for n := range int(count) {
		group.Go(func() error {
			_, err := t.remove(ctx, "remove chunk", chunkKey(name, n), "", nil, nil)
			return err
		})
	}
	return group.Wait()
}

// getChunks reads the data of chunks.
func (t *table) getChunks(ctx context.Context, name string, count int64) ([]byte, error) {
	parts := make([][]byte, count)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(chunksAtOnce)
	for n := range parts {
		group.Go(func() error {
			i, err := t.get(ctx, "read chunk", chunkKey(name, n))
			if err == nil && i.bytes(attrData) == nil {
				err = &rota.Error{
					Code: rota.Internal, Act: "dynamodb: read log", Reason: fmt.Sprintf("the item %d of the chunks %s is missing", n, name),
					Err: errNoChunk, Hint: "restore the table as it was before someone removed it",
				}
			}
			parts[n] = i.bytes(attrData)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(parts...), nil
}
