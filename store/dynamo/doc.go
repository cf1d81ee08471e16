// Package dynamo keeps the queue in one DynamoDB table. The table holds a log of numbered slots. A process
// takes the next slot with a conditional put, and every process applies the slots in order to a SQLite replica
// of its own, which answers reads. Package logstore has what does not depend on DynamoDB.
package dynamo
