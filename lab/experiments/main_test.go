package experiments_test

import (
	"os"
	"testing"

	"github.com/oxgang/oxgang/lab/reference"
)

func TestMain(m *testing.M) {
	reference.Register()
	os.Exit(m.Run())
}
