package client

import (
	"context"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
)

// call attempts an operation as often as its rule allows, and returns what it read. retryAfter is
// the pause before the next poll that the response requests.
func call[T any](ctx context.Context, c *Client, op operation[T], patience Patience) (value *T, retryAfter time.Duration, err error) {
	err = c.loop.Do(ctx, op.rule(patience), func(ctx context.Context, current retry.Attempt) (err error) {
		value, retryAfter, err = attempt(ctx, c, c.networkFor(current, op.once), op, current.Number)
		return err
	})
	return value, retryAfter, err
}
