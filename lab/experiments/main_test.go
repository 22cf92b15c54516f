package experiments_test

import (
	"os"
	"testing"

	"github.com/oxgang/oxgang/lab/rules"
)

func TestMain(m *testing.M) {
	rules.Register()
	os.Exit(m.Run())
}
