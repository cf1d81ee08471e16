package dyntest

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Fault is what a proxy does to a request in place of answering as the server does. It happens only to operations where DynamoDB has it:
// TransactionCanceledException, for example, only to transactions.
type Fault struct {
	name       string
	status     int
	kind       string   // __type of the answer; empty: the answer is not JSON
	message    string   // of the answer
	operations []string // where it happens; empty: everywhere
	reasons    []string // codes of CancellationReasons
	forwards   bool     // the server carries the request out
	closes     bool     // the connection is closed without an answer
}

// Types of errors have the namespace of the part of DynamoDB that answers.
const (
	dynamodbType     = "com.amazonaws.dynamodb.v20120810#"
	availabilityType = "com.amazon.coral.availability#"
	serviceType      = "com.amazon.coral.service#"
)

var (
	singleWrites = []string{"PutItem", "UpdateItem", "DeleteItem"}
	transactions = []string{"TransactWriteItems", "TransactGetItems"}
)

// Faults without parameters.
var (
	// ThroughputExceeded is the answer to more requests than a table or a partition may serve.
	ThroughputExceeded = Fault{name: "ThroughputExceeded", status: http.StatusBadRequest, kind: dynamodbType + "ProvisionedThroughputExceededException", message: "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."}

	// Throttled is the answer to more requests than an on-demand table serves yet.
	Throttled = Fault{name: "Throttled", status: http.StatusBadRequest, kind: availabilityType + "ThrottlingException", message: "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly."}

	// Conflict is the answer to a write of an item that a transaction writes.
	Conflict = Fault{name: "Conflict", status: http.StatusBadRequest, kind: dynamodbType + "TransactionConflictException", message: "Transaction is ongoing for the item", operations: singleWrites}

	// InternalError says nothing about whether the request had an effect. Here it had none.
	InternalError = Fault{name: "InternalError", status: http.StatusInternalServerError, kind: dynamodbType + "InternalServerError", message: "The request processing has failed because of an unknown error, exception or failure."}

	// Unavailable is the answer of a load balancer, which is not JSON.
	Unavailable = Fault{name: "Unavailable", status: http.StatusServiceUnavailable, message: "Service Unavailable"}

	// CutBefore closes the connection before the server has the request.
	CutBefore = Fault{name: "CutBefore", closes: true}

	// LostAnswer closes the connection after the server has answered and before the client has the answer.
	LostAnswer = Fault{name: "LostAnswer", forwards: true, closes: true}

	// LateError is InternalError after the server has carried out the request.
	LateError = Fault{name: "LateError", status: InternalError.status, kind: InternalError.kind, message: InternalError.message, forwards: true}

	// Denied is the answer to a request that the account has no right to.
	Denied = Fault{name: "Denied", status: http.StatusBadRequest, kind: serviceType + "AccessDeniedException", message: "User: arn:aws:iam::000000000000:user/test is not authorized to perform: dynamodb:"}
)

// Cancelled is the answer to a transaction with the codes of its reasons, one for each item, such as None and ConditionalCheckFailed. Missing
// ones are None. Without any the first item has TransactionConflict.
func Cancelled(codes ...string) Fault {
	if len(codes) == 0 {
		codes = []string{"TransactionConflict"}
	}
	return Fault{name: "Cancelled", status: http.StatusBadRequest, kind: dynamodbType + "TransactionCanceledException", operations: transactions, reasons: codes}
}

// TransientFaults are the faults after which a client may send the request again.
func TransientFaults() []Fault {
	return []Fault{ThroughputExceeded, Throttled, Conflict, Cancelled(), InternalError, Unavailable, CutBefore, LostAnswer, LateError}
}

func (f Fault) String() string { return f.name }

func (f *Fault) happensTo(operation string) bool {
	return len(f.operations) == 0 || slices.Contains(f.operations, operation)
}

// respond returns the response to a request, or nil to close the connection.
func (f *Fault) respond(p *Proxy, r *request) *response {
	if f.forwards && p.forward(r) == nil || f.closes {
		return nil
	}
	return f.answer(r)
}

// answer returns the error as DynamoDB writes it. The SDK warns of an answer without a checksum.
func (f *Fault) answer(r *request) *response {
	header, body := http.Header{"Content-Type": {"text/plain"}}, []byte(f.message)
	if f.kind != "" {
		header, body = http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, f.document(r)
	}
	header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	return &response{f.status, header, body}
}

func (f *Fault) document(r *request) []byte {
	document := map[string]any{"__type": f.kind, "message": f.text(r)}
	if f.reasons != nil {
		document = map[string]any{"__type": f.kind, "Message": f.text(r), "CancellationReasons": f.reasonsOf(r)}
	}
	body, err := json.Marshal(document)
	if err != nil {
		panic(err) // it has texts only
	}
	return body
}

func (f *Fault) text(r *request) string {
	switch {
	case f.reasons != nil:
		return fmt.Sprintf("Transaction cancelled, please refer cancellation reasons for specific reasons [%s]", strings.Join(f.codes(r), ", "))
	case f.name == Denied.name:
		return f.message + r.operation
	}
	return f.message
}

// codes returns one code for each item of a transaction.
func (f *Fault) codes(r *request) []string {
	codes := slices.Clone(f.reasons)
	for len(codes) < len(r.document.TransactItems) {
		codes = append(codes, "None")
	}
	return codes
}

func (f *Fault) reasonsOf(r *request) (reasons []map[string]string) {
	for _, code := range f.codes(r) {
		reason := map[string]string{"Code": code}
		if message := reasonMessages[code]; message != "" {
			reason["Message"] = message
		}
		reasons = append(reasons, reason)
	}
	return reasons
}

var reasonMessages = map[string]string{
	"ConditionalCheckFailed":        "The conditional request failed",
	"TransactionConflict":           "Transaction is ongoing for the item",
	"ProvisionedThroughputExceeded": "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.",
	"ThrottlingError":               "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly.",
}
