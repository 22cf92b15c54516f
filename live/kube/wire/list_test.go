package wire

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A list that was packed is the same when it is opened; an empty one takes nothing.
func TestPackList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOf(rapid.String()).Draw(rt, "list")
		data, err := PackList(want)
		if err != nil || (len(data) == 0) != (len(want) == 0) {
			rt.Fatalf("%d bytes, %v", len(data), err)
		}
		if got, err := UnpackList[string](data); err != nil || !slices.Equal(got, want) {
			rt.Errorf("got %q, %v, want %q", got, err, want)
		}
	})
}

// What is cut off, or was never packed, is an error.
func TestUnpackList_of_damaged_data(t *testing.T) {
	data, err := PackList([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{data[:len(data)/2], []byte("[]"), {0}} {
		if got, err := UnpackList[string](bad); err == nil {
			t.Errorf("%q: got %q, want an error", bad, got)
		}
	}
}
