"""What running a topology needs beside Spark: its topics, its checkpoint's description, its errors in
words.
"""
