package agentapi

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives the tests. Where net/http hangs up it waits for half a second with
// a goroutine that ends by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}
