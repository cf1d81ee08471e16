package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/rotajobs/rota"
)

var _ rota.LogStore = (*Store)(nil)

// The chunks of the log of a job are the items of one partition, by offset. They are not part of the command log:
// no replica needs them.
const (
	logPrefix = "rota#chunk#log#"

	attrLength   = "length"
	attrDeflated = "deflated"

	logKeepDefault = 30 * 24 * time.Hour

	logPage = 100 // items that one query reads; DynamoDB ends a page after 1 MB, too
)

func logPK(job rota.ID) string              { return logPrefix + job.String() }
func logKey(job rota.ID, offset int64) item { return key(logPK(job), logSK(offset)) }
func logSK(offset int64) string             { return fmt.Sprintf("%020d", offset) }
func logOffset(i item) int64 {
	offset, _ := strconv.ParseInt(i.text(attrSK), 10, 64)
	return offset
}

// AppendLog stores chunks: those of different logs at the same time, and those of one log in order, so that a reader
// sees no gap while some of them are not stored. After an error some may be stored, and the caller sends all again.
func (s *Store) AppendLog(ctx context.Context, chunks []rota.LogChunk, _ bool) error {
	if s.log.readOnly {
		return errReadOnly("append log")
	}
	byJob := map[rota.ID][]*rota.LogChunk{}
	for i := range chunks {
		c := &chunks[i]
		if len(c.Data) > chunkMax {
			return rota.Invalidf("data", "has %d bytes; a chunk of a log has at most %d", len(c.Data), chunkMax)
		}
		byJob[c.JobID] = append(byJob[c.JobID], c)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(chunksAtOnce)
	for job, ofJob := range byJob {
		group.Go(func() error { return s.appendLogOf(ctx, job, ofJob) })
	}
	return group.Wait()
}

func (s *Store) appendLogOf(ctx context.Context, job rota.ID, chunks []*rota.LogChunk) error {
	slices.SortFunc(chunks, func(a, b *rota.LogChunk) int { return cmp.Compare(a.Offset, b.Offset) })
	if slices.ContainsFunc(chunks, func(c *rota.LogChunk) bool { return c.Replaces }) {
		if err := s.removeLog(ctx, job, chunks); err != nil {
			return err
		}
	}
	for _, c := range chunks {
		i := logKey(job, c.Offset)
		i[attrData], i[attrLength] = bytesValue(c.Data), numberValue(int64(c.Length))
		if c.Deflated {
			i[attrDeflated] = numberValue(1)
		}
		i.expires(c.StartedAt.Add(s.logKeep))
		if err := s.log.table.put(ctx, "append log", i); err != nil {
			return err
		}
	}
	return nil
}

// removeLog removes the log of a job, except for the items that are written again.
func (s *Store) removeLog(ctx context.Context, job rota.ID, replacing []*rota.LogChunk) error {
	input := logQuery(job, 0)
	input.ProjectionExpression = aws.String(attrPK + ", " + attrSK)
	for {
		page, next, err := s.log.table.query(ctx, "replace log", input)
		if err != nil {
			return err
		}
		for _, i := range page {
			if slices.ContainsFunc(replacing, func(c *rota.LogChunk) bool { return c.Offset == logOffset(i) }) {
				continue
			}
			if _, err := s.log.table.remove(ctx, "replace log", i.key(), "", nil, nil); err != nil {
				return err
			}
		}
		if input.ExclusiveStartKey = next; next == nil {
			return nil
		}
	}
}

// logQuery returns the query of the chunks from an offset on.
func logQuery(job rota.ID, from int64) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String(attrPK + " = :pk AND " + attrSK + " >= :from"),
		ExpressionAttributeValues: item{":pk": stringValue(logPK(job)), ":from": stringValue(logSK(from))},
		Limit:                     aws.Int32(logPage),
	}
}

// ReadLog returns chunks of a log in order. A reader that follows a log asks for the chunk that begins at the offset;
// only another offset costs a second query.
func (s *Store) ReadLog(ctx context.Context, job rota.ID, offset int64, bytes int) ([]rota.LogChunk, error) {
	if offset < 0 {
		return s.lastChunk(ctx, job, "")
	}
	chunks, err := s.chunksFrom(ctx, job, offset, bytes)
	if err != nil || offset == 0 || len(chunks) > 0 && chunks[0].Offset == offset {
		return chunks, err
	}
	first, err := s.lastChunk(ctx, job, logSK(offset))
	if err != nil || len(first) == 0 || first[0].Offset+int64(first[0].Length) <= offset {
		return chunks, err
	}
	return limited(append(first, chunks...), bytes), nil
}

func (s *Store) chunksFrom(ctx context.Context, job rota.ID, offset int64, bytes int) (chunks []rota.LogChunk, err error) {
	input, text := logQuery(job, offset), 0
	for {
		page, next, err := s.log.table.query(ctx, "read log", input)
		if err != nil {
			return nil, err
		}
		for _, c := range s.unexpired(job, page) {
			if text >= bytes && len(chunks) > 0 {
				return chunks, nil
			}
			chunks = append(chunks, c)
			text += c.Length
		}
		if input.ExclusiveStartKey = next; next == nil {
			return chunks, nil
		}
	}
}

// limited returns the first chunks until they have enough text.
func limited(chunks []rota.LogChunk, bytes int) []rota.LogChunk {
	text := 0
	for n, c := range chunks {
		if n > 0 && text >= bytes {
			return chunks[:n]
		}
		text += c.Length
	}
	return chunks
}

// lastChunk returns the last chunk, or the last one before a sort key.
func (s *Store) lastChunk(ctx context.Context, job rota.ID, before string) ([]rota.LogChunk, error) {
	input := &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String(attrPK + " = :pk"),
		ExpressionAttributeValues: item{":pk": stringValue(logPK(job))},
		ScanIndexForward:          aws.Bool(false), Limit: aws.Int32(1),
	}
	if before != "" {
		input.KeyConditionExpression = aws.String(attrPK + " = :pk AND " + attrSK + " < :before")
		input.ExpressionAttributeValues[":before"] = stringValue(before)
	}
	page, _, err := s.log.table.query(ctx, "read log", input)
	return s.unexpired(job, page), err
}

// unexpired returns the chunks of items that DynamoDB need not have removed: it may be days late.
func (s *Store) unexpired(job rota.ID, items []item) (chunks []rota.LogChunk) {
	now := s.log.readClock().Unix()
	for _, i := range items {
		if i.number(attrTTL) < now {
			continue
		}
		chunks = append(chunks, rota.LogChunk{
			JobID: job, Offset: logOffset(i), Length: int(i.number(attrLength)), Deflated: i.number(attrDeflated) == 1, Data: i.bytes(attrData),
		})
	}
	return chunks
}

// PruneLogs removes nothing: each chunk has a time after which DynamoDB removes it and reads leave it out.
func (s *Store) PruneLogs(ctx context.Context, _ time.Time, _ int) (int, error) { return 0, ctx.Err() }
