package view

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Delete deletes the object of a job, and with it its pods, with the user's own rights; of an object that has its name since, it deletes
// nothing. The error is ErrForbidden if he may not, and ErrNotFound if it is not there any more.
func (k *Kubectl) Delete(ctx context.Context, s *Seen) error {
	if s.object == nil {
		return fmt.Errorf("%s: its object cannot be seen", s.ID)
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background",
		"preconditions": map[string]string{"uid": s.UID},
	})
	if err != nil {
		return fmt.Errorf("delete %s: %w", s.ID, err)
	}
	plural, _, _ := strings.Cut(resourceOf(s.Kind), ".")
	path := "/apis/" + s.object.Version + "/namespaces/" + url.PathEscape(s.Namespace) + "/" + plural + "/" + url.PathEscape(s.Name)
	_, err = k.input(ctx, strings.NewReader(string(text)), "delete", "--raw", path, "-f", "-")
	return err
}
