// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// listPages downloads the bundle, a gzip tar, and prints the pages in it. The link is a credential
// and goes into no message. A bundle without pages is an error.
func listPages(ctx context.Context, out io.Writer, link string) error {
	body, err := download(ctx, link)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()

	unzipped, err := gzip.NewReader(body)
	if err != nil {
		return fmt.Errorf("reading the bundle: %w", err)
	}
	var files, pages int
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the bundle: %w", err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		files++
		if strings.HasSuffix(header.Name, ".html") {
			pages++
			fmt.Fprintf(out, "%8d  %s\n", header.Size, header.Name)
		}
	}
	fmt.Fprintf(out, "%d pages, %d files\n", pages, files)
	if pages == 0 {
		return errors.New("the bundle holds no page")
	}
	return nil
}

func download(ctx context.Context, link string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return nil, errors.New("bundle_url is no URL")
	}
	response, err := http.DefaultClient.Do(request)
	if failed := new(url.Error); errors.As(err, &failed) {
		err = failed.Err // without the link
	}
	if err != nil {
		return nil, fmt.Errorf("downloading the bundle: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("downloading the bundle: the storage answered %s", response.Status), response.Body.Close())
	}
	return response.Body, nil
}
